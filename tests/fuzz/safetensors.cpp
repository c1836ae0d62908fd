// Coverage-guided fuzzing of everything that reads a checkpoint, in memory: a value or `kvbudget::error`. The
// first byte picks the reader, the second the options; several texts are separated by a zero byte.
//
//   cmake --preset clang-14 -DKVBUDGET_BUILD_FUZZERS=ON
//   cmake --build --preset clang-14 --target kvbudget_fuzz_safetensors
//   build/clang-14/tests/kvbudget_fuzz_safetensors -max_total_time=60 CORPUS-FOLDER
//   tests/fuzz/seeds/safetensors
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attempt.hpp"
#include "kvbudget/io/safetensors.hpp"
#include "kvbudget/model/builders.hpp"

namespace {

using namespace kvbudget;

using fuzz::require;

checkpoint_options options_in(std::uint8_t bits) {
  checkpoint_options options;
  if ((bits & 1U) != 0) options.tie_word_embeddings = (bits & 2U) != 0;
  if ((bits & 4U) != 0) options.num_hidden_layers = bits >> 4U;
  return options;
}

/// A checkpoint that was read is also used, and its sizes must be in order.
void use(const checkpoint& stored) {
  using model = decoder<hidden<64>, vocabulary<10>, repeat<2, block<gqa<2, 1, 32>, gated_mlp<128>>>>;
  (void)differences(stored, model::architecture);
  if (!stored.has_tensors()) return;
  (void)stored_elements(stored);
  const weight_bytes weights = resident_weights(stored);
  std::uint64_t sum = weights.scales;
  for (const std::uint64_t module : weights.modules) sum += module;
  const checkpoint_sizes& sizes = stored.sizes;
  require(sum == *sizes.engine_resident.bytes);
  require(*sizes.engine_resident.bytes <= *sizes.unique_tensors.bytes);
  require(*sizes.unique_tensors.bytes <= *sizes.stored_tensors.bytes);
  require(*sizes.stored_tensors.bytes <= *sizes.disk.bytes);
  (void)resident_weights(stored, true);
}

/// A file of this header alone: offsets need not be right about data that is not there.
named_header file_of(std::string_view json) {
  std::string start(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) start[i] = static_cast<char>(std::uint64_t{json.size()} >> (8 * i));
  start += json;
  return {"x.safetensors", read_safetensors_header(start, start.size(), "x.safetensors")};
}

void read(std::uint8_t which, std::uint8_t bits, std::string_view input) {
  std::vector<named_header> files;
  switch (which % 4) {
    case 0:
      files.push_back({"x.safetensors", read_safetensors_header(input, input.size(), "x.safetensors")});
      use(make_checkpoint(std::move(files), options_in(bits)));
      break;
    case 1: use(make_checkpoint(parse_safetensors_index(input, "model.safetensors.index.json"))); break;
    case 2:
      files.push_back(file_of(input));
      use(make_checkpoint(std::move(files), options_in(bits)));
      break;
    default: {
      const std::size_t end = input.find('\0');
      const safetensors_index index = parse_safetensors_index(input.substr(0, end), "index");
      while (input.find('\0') != std::string_view::npos) {
        input.remove_prefix(input.find('\0') + 1);
        files.push_back(file_of(input.substr(0, input.find('\0'))));
      }
      use(make_checkpoint(std::move(files), options_in(bits), &index));
      break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  fuzz::attempt(
      [&] { read(data[0], data[1], std::string_view(reinterpret_cast<const char*>(data) + 2, size - 2)); });
  return 0;
}
