// Coverage-guided fuzzing of the GGUF reader: it gives a model or throws `kvbudget::error`; it never crashes,
// hangs, or throws anything else, and a model that it gives weighs what the tensors do.
//
//   cmake --preset clang-14 -DKVBUDGET_BUILD_FUZZERS=ON && cmake --build --preset clang-14 --target
//   kvbudget_fuzz_gguf build/clang-14/tests/kvbudget_fuzz_gguf -max_total_time=60 CORPUS
//   tests/fuzz/seeds/gguf
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kvbudget/io/gguf.hpp"
#include "kvbudget/kvbudget.hpp"
#include "use_model.hpp"

namespace {

using namespace kvbudget;

/// What a reader accepts must not upset the library.
void use(const gguf_file& file, const gguf_model& read) {
  deployment d{.model = read.architecture};
  d.workload.sequences = 3;
  d.workload.context = tokens{5000};
  d.load_draft_layers = true;
  const memory_budget budget = estimate(d);
  fuzz::require(budget["weights"] == weight_bytes_of(file));
  const gguf_inventory parts = inventory_of(file, read.architecture.num_hidden_layers);
  fuzz::require(parts.total() == weight_bytes_of(file));
  fuzz::use(read.architecture);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::attempt([&] {
    memory_source source(std::string_view(reinterpret_cast<const char*>(data), size));
    const gguf_file file = read_gguf(source, "fuzzed.gguf");
    if (file.metadata.count("clip.has_vision_encoder") != 0) {
      gguf_model model;
      add_projector(model, file);
      return;
    }
    use(file, model_of_gguf(file, {.assume_like = "llama"}));
  });
  return 0;
}
