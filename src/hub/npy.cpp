#include "blockzoo/hub/npy.h"

#include <ATen/ATen.h>

#include <stdexcept>
#include <string>

namespace blockzoo {

namespace {

/// Magic, version, length and the dictionary, blank padded so that the data starts at a multiple of 64 bytes.
std::string npy_header(at::IntArrayRef shape) {
  std::string dims;
  for (const auto dim : shape) dims += std::to_string(dim) + ",";
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + dims + "), }";
  constexpr size_t before = 10;
  text.resize((before + text.size() + 1 + 63) / 64 * 64 - before, ' ');
  text.back() = '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size() & 255) +
         static_cast<char>(text.size() >> 8) + text;
}

}  // namespace

FileSum save_npy(const std::filesystem::path& path, const at::Tensor& tensor) {
  if (!tensor.defined()) throw std::runtime_error("cannot write " + path.string() + ": the tensor is undefined");
  const auto packed = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
  AtomicFile file(path);
  file.write(npy_header(packed.sizes()));
  file.write({static_cast<const char*>(packed.const_data_ptr()), packed.nbytes()});
  return file.commit();
}

}  // namespace blockzoo
