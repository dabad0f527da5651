# bnapi_options: how every object of this project is compiled. Link it PRIVATE; it is never exported.
add_library(bnapi_options INTERFACE)
target_compile_features(bnapi_options INTERFACE cxx_std_17)
target_include_directories(bnapi_options INTERFACE ${PROJECT_SOURCE_DIR}/csrc ${PROJECT_SOURCE_DIR}/include)

# No fused multiply-add behind our back: results are the same bits on every instruction set.
target_compile_options(
  bnapi_options
  INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off> $<$<COMPILE_LANGUAGE:C,CXX>:-fvisibility=hidden>
            $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden> $<$<COMPILE_LANGUAGE:C,CXX>:-Wall>
            $<$<COMPILE_LANGUAGE:C,CXX>:-Wextra>
)
if(BNAPI_WERROR)
  target_compile_options(bnapi_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()

find_package(Threads REQUIRED)
target_link_libraries(bnapi_options INTERFACE Threads::Threads)

if(BNAPI_SANITIZE)
  target_compile_options(
    bnapi_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${BNAPI_SANITIZE}>
                            $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>
  )
  target_link_options(bnapi_options INTERFACE -fsanitize=${BNAPI_SANITIZE})
  if(BNAPI_SANITIZE MATCHES "undefined")
    # A finding ends the program; otherwise it is a line in a log that nobody reads.
    target_compile_options(bnapi_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=all>)
  endif()
endif()
