// Coverage-guided fuzzing of the log readers: each gives figures or throws `kvbudget::error`; none crashes,
// hangs, or throws anything else, and what one gives is within its own bounds.
//
//   cmake --preset clang-14 -DKVBUDGET_BUILD_FUZZERS=ON && cmake --build --preset clang-14 --target
//   kvbudget_fuzz_engine_log build/clang-14/tests/kvbudget_fuzz_engine_log -max_total_time=60 CORPUS
//   tests/fuzz/seeds/engine_log
//
// KVBUDGET_FUZZED_LOG_READER=vllm, sglang, tensorrt_llm, llama_cpp or any in the environment restricts it to
// one reader.
#include "kvbudget/io/engine_log.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "attempt.hpp"
#include "kvbudget/hardware/gpus.hpp"
#include "kvbudget/io/comparison.hpp"
#include "kvbudget/io/local_comparison.hpp"
#include "kvbudget/model/builders.hpp"

namespace {

using namespace kvbudget;

/// Every figure names a line of the text; texts are bounded and fit for one line.
void use(const engine_log& log, std::string_view text) {
  const auto lines = static_cast<std::uint32_t>(1 + std::count(text.begin(), text.end(), '\n'));
  fuzz::require(log.ranks.size() <= max_log_ranks && log.starts >= 1 && log.first_line <= lines);
  fuzz::require(log.settings.size() <= 1024 && log.notes.size() <= 110);
  for (const auto& [key, value] : log.settings) fuzz::require(key.size() <= 100 && value.size() <= 4099);
  const rank_figures first = first_printed(log);
  for (const rank_figures& rank : log.ranks) {
    fuzz::require(rank.name.size() <= 160 && rank.pools.size() <= 64);
    for (const named_figure& figure : log_figures) {
      const auto check = [&](auto member) {
        if (member == nullptr || !(rank.*member)) return;
        fuzz::require((rank.*member)->line >= log.first_line && (rank.*member)->line <= lines);
        fuzz::require((first.*member).has_value());
      };
      check(figure.member.amount);
      check(figure.member.count);
      check(figure.member.decimal);
    }
  }
}

/// The same of what local engines print.
void use_local(const engine_log& log, std::string_view text) {
  const auto lines = static_cast<std::uint32_t>(1 + std::count(text.begin(), text.end(), '\n'));
  const auto amount = [&](const std::optional<printed_amount>& figure, bool signed_one = false) {
    if (!figure) return;
    fuzz::require(figure->line >= 1 && figure->line <= lines);
    fuzz::require(signed_one || figure->bytes >= 0);
  };
  const auto count = [&](const std::optional<printed_count>& figure) {
    if (figure) fuzz::require(figure->line >= 1 && figure->line <= lines);
  };
  const auto word = [](const std::string& text_of, std::size_t most) {
    fuzz::require(text_of.size() <= most + 3 && text_of.find('\n') == std::string::npos);
  };
  for (const auto* devices : {&log.devices, &log.draft_devices, &log.projector_devices}) {
    fuzz::require(devices->size() <= 64);
    for (const printed_device& each : *devices) {
      fuzz::require(!each.name.empty());
      word(each.name, 64);
      word(each.description, 100);
      amount(each.total, true);
      amount(each.free, true);
      for (const auto* figure :
           {&each.model, &each.context, &each.recurrent, &each.compute, &each.output, &each.other}) {
        amount(*figure, log.front_end == "ollama");
      }
    }
  }
  for (const auto* caches : {&log.caches, &log.draft_caches}) {
    fuzz::require(caches->size() <= 64);
    for (const printed_cache& each : *caches) {
      fuzz::require(each.line >= 1 && each.line <= lines && each.total);
      word(each.label, 40);
      word(each.key_type, 32);
      word(each.value_type, 32);
      for (const auto* figure : {&each.total, &each.keys, &each.values}) amount(*figure);
      for (const auto* number : {&each.cells, &each.layers, &each.sequences, &each.streams}) count(*number);
    }
  }
  fuzz::require(log.host_tensors.size() <= 8192);
  for (const std::string& each : log.host_tensors) word(each, 100);
  fuzz::require(log.breakdown.size() <= 64 && log.failures.size() <= 64);
  for (const printed_breakdown& each : log.breakdown) {
    fuzz::require(!each.name.empty() && each.self && each.model && each.context && each.compute);
    fuzz::require(each.total.has_value() == each.unaccounted.has_value());
    word(each.name, 64);
    word(each.description, 100);
    amount(each.unaccounted, true);
  }
  for (const printed_failure& each : log.failures) {
    fuzz::require(each.line >= log.first_line && each.line <= lines);
    word(each.text, 300);
    word(each.device, 64);
    amount(each.size);
  }
  if (log.fit) {
    fuzz::require(log.fit->line >= 1 && log.fit->line <= lines && log.fit->devices.size() <= 64);
    word(log.fit->failure, 300);
    for (const printed_fit_device& each : log.fit->devices) {
      word(each.name, 64);
      amount(each.used, true);
      amount(each.free, true);
      count(each.layers);
      count(each.overflowing);
    }
  }
  for (const auto* number : {&log.offloaded_layers, &log.offloadable_layers}) count(*number);
  for (const auto* figure : {&log.projector_estimate, &log.draft_estimate, &log.memory_required,
                             &log.vram_used, &log.compute_total}) {
    amount(*figure);
  }
  amount(log.total_memory, true);
  for (const std::string& note : log.notes) fuzz::require(note.find('\n') == std::string::npos);
}

/// Whatever figures a log has, they can be put beside ours.
void compare(const engine_log& log) {
  using attention = gqa<32, 8, 128>;
  using dense = decoder<hidden<4096>, vocabulary<128256>, repeat<32, block<attention, gated_mlp<14336>>>>;
  static const model_architecture model = [] {
    model_architecture named = dense::architecture;
    named.max_position_embeddings = 131072;
    named.dtype = formats::bf16;
    return named;
  }();
  deployment d{.model = model};
  d.parallel.pipeline = 2;
  const auto check_found = [](const comparison& found) {
    fuzz::require(!found.conclusion.empty() && found.conclusion.find('\n') == std::string::npos);
    for (const compared_figure& each : found.figures) {
      fuzz::require(each.low <= each.high && each.rounding >= 0 && each.line != 0);
    }
  };
  const auto check = [&](const auto& on) {
    check_found(compare_with_log(log, d, on, gpus::nvidia_h100_sxm_80gb));
  };
  if (log.engine == "vllm") check(engines::vllm{});
  if (log.engine == "sglang") check(engines::sglang{});
  if (log.engine == "tensorrt_llm") check(engines::tensorrt_llm{});
  if (log.engine == "llama_cpp") {
    check(engines::vllm{});  // figures of no rank
    engines::llama_cpp on;
    on.n_ctx = 8192;
    on.n_gpu_layers = 20;
    const comparison found = compare_with_log(log, d, on);
    check_found(found);
    fuzz::require(compute_distance(found) >= 0 && gpus_in(log).size() <= log.devices.size());
    engines::ik_llama_cpp fork;
    fork.n_ctx = 8192;
    check_found(compare_with_log(log, d, fork));
  }
}
void use_and_compare(const engine_log& log, std::string_view text) {
  use(log, text);
  use_local(log, text);
  compare(log);
}

bool reads(std::string_view reader) {
  static const char* const only = std::getenv("KVBUDGET_FUZZED_LOG_READER");
  return only == nullptr || reader == only;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (reads("vllm")) fuzz::attempt([&] { use_and_compare(read_vllm_log(text), text); });
  if (reads("sglang")) fuzz::attempt([&] { use_and_compare(read_sglang_log(text), text); });
  if (reads("tensorrt_llm")) fuzz::attempt([&] { use_and_compare(read_tensorrt_llm_log(text), text); });
  if (reads("llama_cpp")) fuzz::attempt([&] { use_and_compare(read_llama_cpp_log(text), text); });
  if (reads("any")) fuzz::attempt([&] { use_and_compare(read_engine_log(text), text); });
  return 0;
}
