// Integer and float arrays, tensor and scalar lists.

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <pthread.h>

#include "api/ascend_contexts.h"
#include "api/ascend_support.h"
#include "api/guard.h"
#include "core/registry.h"
#include "core/runtime.h"

namespace bn {
namespace ascend {
namespace {

// Numbers, or the handles of tensors or scalars, as the caller gave them.
struct List {
  bnapiAscendListType type{};
  uint64_t size = 0;
  std::vector<unsigned char> values;
};

using Lists = Registry<const List, Kind::kList>;

Lists& lists() {
  static Lists* const created = [] {
    auto* made = new Lists;
    static Lists* const shared = made;
    pthread_atfork([] { shared->before_fork(); }, [] { shared->after_fork_in_parent(); },
                   [] { shared->after_fork_in_child(); });
    return made;
  }();
  return *created;
}

size_t value_size(bnapiAscendListType type) {
  return type == BNAPI_ASCEND_FLOATS ? sizeof(float) : sizeof(uint64_t);
}

const char* name(bnapiAscendListType type) {
  switch (type) {
    case BNAPI_ASCEND_INTS:
      return "int array";
    case BNAPI_ASCEND_FLOATS:
      return "float array";
    case BNAPI_ASCEND_TENSORS:
      return "tensor list";
    case BNAPI_ASCEND_SCALARS:
      return "scalar list";
  }
  return "list";
}

std::shared_ptr<const List> find(bnapiAscendListType type, const void* handle) {
  std::shared_ptr<const List> list = lists().find(handle_bits(handle));
  if (list == nullptr || list->type != type) {
    throw Error(BNAPI_ERR_PARAM_INVALID,
                std::string("not a live ") + name(type) + " (destroyed, or never one)");
  }
  return list;
}

void destroy_members(const List& list) {
  Runtime& runtime = Runtime::get();
  for (uint64_t i = 0; i < list.size; ++i) {
    uint64_t member;
    memcpy(&member, list.values.data() + i * sizeof(member), sizeof(member));
    // A member that was destroyed before, against the rule, is simply gone.
    if (list.type == BNAPI_ASCEND_TENSORS) runtime.tensors.take(member);
    if (list.type == BNAPI_ASCEND_SCALARS) runtime.scalars.take(member);
  }
}

}  // namespace

void make_lists() {
  lists();
}

void drop_lists() {
  lists().clear();
}

}  // namespace ascend
}  // namespace bn

using bn::Error;
using bn::guard;

extern "C" {

void* bnapiAscendCreateList(bnapiAscendListType type, const void* values, uint64_t size) {
  void* handle = nullptr;
  guard(BNAPI_ERR_INNER, [&] {
    auto list = std::make_shared<bn::ascend::List>();
    list->type = type;
    if (values != nullptr && size > 0) {
      const size_t bytes = bn::ascend::value_size(type);
      if (size > SIZE_MAX / bytes) throw std::bad_alloc();
      const auto* begin = static_cast<const unsigned char*>(values);
      list->values.assign(begin, begin + size * bytes);
      list->size = size;
    }
    handle = bn::to_handle<void*>(bn::ascend::lists().insert(std::move(list)));
  });
  return handle;
}

bnapiStatus bnapiAscendDestroyList(bnapiAscendListType type, const void* handle) {
  return guard(BNAPI_ERR_INNER, [&] {
    if (handle == nullptr) return;
    const auto list = bn::ascend::find(type, handle);
    if (bn::ascend::lists().take(bn::handle_bits(handle)) == nullptr) return;  // another thread was faster
    if (type == BNAPI_ASCEND_TENSORS || type == BNAPI_ASCEND_SCALARS) bn::ascend::destroy_members(*list);
  });
}

bnapiStatus bnapiAscendGetListSize(bnapiAscendListType type, const void* handle, uint64_t* size) {
  return guard(BNAPI_ERR_INNER, [&] {
    if (handle == nullptr || size == nullptr) {
      throw Error(BNAPI_ERR_PARAM_NULLPTR, handle == nullptr ? "array: null" : "size: null");
    }
    *size = bn::ascend::find(type, handle)->size;
  });
}

}  // extern "C"
