// How much memory reading a GGUF header takes at its peak: what the tensors take and a buffer, however large
// the tokenizer is. Every allocation of this program is counted.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "kvbudget/io/gguf.hpp"
#include "support/gguf_shapes.hpp"

namespace {

std::size_t alive = 0;
std::size_t peak = 0;

void* counted(std::size_t size) {
  constexpr std::size_t room = alignof(std::max_align_t);  // the size, in front of what is given out
  auto* block = static_cast<unsigned char*>(std::malloc(size + room));
  if (block == nullptr) throw std::bad_alloc{};
  *reinterpret_cast<std::size_t*>(block) = size;
  alive += size;
  peak = std::max(peak, alive);
  return block + room;
}
void uncounted(void* pointer) {
  if (pointer == nullptr) return;
  auto* block = static_cast<unsigned char*>(pointer) - alignof(std::max_align_t);
  alive -= *reinterpret_cast<std::size_t*>(block);
  std::free(block);
}

/// Llama's shape with 222 layers, 2,001 tensors, and a tokenizer of `tokens`.
std::string header(std::uint64_t tokens) {
  tests::gguf_writer file = tests::gguf_of({.architecture = "llama",
                                            .layers = 222,
                                            .hidden = 64,
                                            .heads = 4,
                                            .kv_heads = 2,
                                            .head_dim = 16,
                                            .ff = 128,
                                            .vocabulary = 64});
  file.texts("tokenizer.ggml.tokens", tokens).f32s("tokenizer.ggml.scores", tokens);
  return file.header();
}

std::size_t peak_of_reading(const std::string& content) {
  const std::size_t before = alive;
  peak = alive;
  kvbudget::memory_source source(content);
  const kvbudget::gguf_file file = kvbudget::read_gguf(source, "test.gguf");
  if (file.tensors.size() < 2000) std::abort();
  return peak - before;
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* pointer) noexcept { uncounted(pointer); }
void operator delete[](void* pointer) noexcept { uncounted(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { uncounted(pointer); }
void operator delete[](void* pointer, std::size_t) noexcept { uncounted(pointer); }

int main() {
  std::size_t first = 0;
  for (const std::uint64_t tokens : {0ULL, 1'000ULL, 32'000ULL, 250'000ULL}) {
    const std::string content = header(tokens);
    const std::size_t bytes = peak_of_reading(content);
    std::printf("%7llu tokens, header of %8zu bytes: peak %zu bytes\n",
                static_cast<unsigned long long>(tokens), content.size(), bytes);
    if (first == 0) first = bytes;
    if (bytes != first) {
      std::printf("memory depends on the tokenizer\n");
      return 1;
    }
  }
  return 0;
}
