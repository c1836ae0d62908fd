// A planner at run time: which GPUs hold a model with so many requests, and how far each of them goes.
//   planner [MODEL | config.json] [SEQUENCES] [CONTEXT]
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>

#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/io/model_lookup_text.hpp"
#include "kvbudget/io/quantity_text.hpp"
#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"
#include "kvbudget/report/format.hpp"
#include "kvbudget/report/table.hpp"

namespace {

using namespace kvbudget;
using namespace kvbudget::literals;

model_architecture model_from(const std::string& text) {
  if (text.ends_with(".json")) return load_huggingface_config(text);
  return model_named_or_explain(text);
}

std::string text_of(const limit& found) {
  if (found.unbounded) return "no limit";
  return found.fits ? fmt::format("{}", tokens{found.value}) : "nothing";
}

void plan(const model_architecture& model, std::uint64_t sequences, tokens context) {
  deployment d{.model = model,
               .weights = formats::fp8_e4m3,
               .kv_cache = formats::fp8_e4m3,
               .workload = {.sequences = sequences, .context = context, .batched_tokens = 8192_tokens},
               .parallel = {.tensor = 2}};
  d.framework.kind = framework_kind::pytorch_cuda;

  const memory_budget need = estimate(d);
  report::table_options options;
  options.title = fmt::format("{}, {} x {}, one of two GPUs", model.name, sequences, context);
  options.engine = engines::geometry{}.name().text;
  options.gpu = report::gpu_view(gpus::nvidia_h100_sxm_80gb, headroom{10_percent});
  fmt::print("{}\n\n", report::table(need, options));

  fmt::print("{:<24} {:<56} {:>16}\n", "two of", "verdict, with 10 % to spare", "longest context");
  for (const gpu_profile* gpu :
       {&gpus::nvidia_rtx_4090_24gb, &gpus::nvidia_l40s_48gb, &gpus::nvidia_a100_sxm_80gb,
        &gpus::nvidia_h100_sxm_80gb, &gpus::nvidia_h200_sxm_141gb, &gpus::nvidia_b200_sxm_180gb}) {
    const verdict answer = check_fit(d, *gpu, engines::geometry{}, headroom{10_percent});
    const limit longest = max_context(d, *gpu, headroom{10_percent});
    fmt::print("{:<24} {:<56.1GB} {:>16}\n", gpu->id, answer, text_of(longest));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const model_architecture model = model_from(argc > 1 ? argv[1] : "llama-3.1-70b");
    const std::uint64_t sequences = argc > 2 ? parse_count(argv[2], "sequences", 1, 100'000) : 8;
    const std::uint64_t context = argc > 3 ? parse_count(argv[3], "tokens", 1, 100'000'000) : 32768;
    plan(model, sequences, tokens{context});
  } catch (const std::exception& problem) {
    fmt::print(stderr, "planner: {}\n", problem.what());
    return 2;
  }
}
