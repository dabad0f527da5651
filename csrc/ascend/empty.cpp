// Nothing: the body of libraries that exist because programs name them on their link lines.
