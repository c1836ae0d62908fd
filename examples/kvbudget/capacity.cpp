#include <fmt/format.h>

#include <memory>
#include <string>
#include <variant>

#include "command_error.hpp"
#include "commands.hpp"
#include "kvbudget/io/estimate_json.hpp"
#include "kvbudget/report/allocation.hpp"
#include "kvbudget/report/format.hpp"
#include "output.hpp"
#include "request.hpp"

namespace cli {

using namespace kvbudget;
using namespace kvbudget::literals;

namespace {

/// Inverse questions vary one number, so they need a workload of equal sequences: an uneven spread of active
/// tokens is rounded up to whole sequences of the longest context.
void make_sequences_equal(request& r) {
  workload& work = r.d.workload;
  if (work.groups[0].count == 0) return;
  workload even{.sequences = work.total_sequences(), .context = work.longest_context()};
  even.batched_tokens = work.batched_tokens;
  work = even;
  r.notes.push_back(
      fmt::format("active tokens are taken as {} sequences of {}", even.sequences, even.context));
}

void print_limit(const char* what, const limit& found, const char* unit) {
  if (found.unbounded) {
    fmt::print("  {:<44} unbounded: nothing grows with it\n", what);
  } else if (!found.fits) {
    fmt::print("  {:<44} none: not even one fits\n", what);
  } else {
    fmt::print("  {:<44} {} {}{}\n", what, detail::grouped(found.value), unit, found.value == 1 ? "" : "s");
  }
}

/// Whether an option gives the cache its size, or the number of its shares, however many requests there are.
bool has_fixed_cache(const request& r) {
  if (const auto* const on = std::get_if<engines::llama_cpp>(&r.engine)) return on->n_ctx != 0;
  if (std::holds_alternative<engines::ollama>(r.engine)) return !r.open.sequences;
  const auto* const studio = std::get_if<engines::lm_studio>(&r.engine);
  const bool shares = studio != nullptr && !studio->use_unified_kv_cache;
  return is_llama_cpp(r) && (!r.open.context || (shares && !r.open.sequences));
}

/// ", per replica" where there are several.
std::string per_replica(const request& r) { return r.d.parallel.data > 1 ? ", per replica" : ""; }

/// Blocks, what the engine prints, and how many requests run; returns the engine's longest request.
std::uint64_t print_pools(const request& r, const capacity& found) {
  return with_engine(r, [&](const auto& on) -> std::uint64_t {
    if constexpr (pool_engine<std::remove_cvref_t<decltype(on)>>) {
      const allocation reserved = allocate(r.d, on, *r.gpu);
      for (const block_pool& pool : reserved.pools) {
        if (pool.blocks == 0 || pool.block_bytes == 0) continue;
        const std::string what = reserved.pools.count == 1 ? "blocks" : std::string("blocks of ") + pool.name;
        fmt::print("  {:<44} {} of {:B}, {} in all\n", what, detail::grouped(pool.blocks),
                   bytes{pool.block_bytes}, pool.size());
      }
      if (found.bytes_per_request != bytes{})
        fmt::print("  {:<44} {} token{}\n", "a block of attention holds", detail::grouped(found.block_tokens),
                   found.block_tokens == 1 ? "" : "s");
      if (found.printed_kv_cache_tokens != 0) {
        fmt::print("  {:<44} {} tokens\n", "the engine prints a cache of",
                   detail::grouped(found.printed_kv_cache_tokens));
      }
      fmt::print("  {:<44} {} tokens\n", "its longest request", detail::grouped(reserved.longest_request));
      if (reserved.running_requests != 0) {
        fmt::print("  {:<44} {}\n", "requests that it runs at once" + per_replica(r),
                   detail::grouped(reserved.running_requests));
      }
      return reserved.longest_request;
    } else {
      return 0;
    }
  });
}

/// Whether the engine starts and takes the workload, in its words.
void print_answer(const request& r) {
  with_engine(r, [&](const auto& on) {
    if constexpr (pool_engine<std::remove_cvref_t<decltype(on)>>) {
      const allocation reserved = allocate(r.d, on, *r.gpu);
      const verdict answer = check_fit(reserved, r.d, *r.gpu, on, r.asked);
      fmt::print("  {}\n",
                 report::answer_of(reserved, answer, r.d, longest_start(reserved, r.d, on, *r.gpu)));
    }
  });
}

void print_text(const request& r, const capacity& found, const output_options& output) {
  const workload& work = r.d.workload;
  const auto size = [&](bytes amount) {
    if (amount < 1_KB) return fmt::format("{:B}", amount);
    if (output.unit() == byte_unit::automatic) return fmt::format("{} = {:B}", amount, amount);
    return detail::number_in(amount, output.unit(), 2) + ' ' + name_of(output.unit()) +
           fmt::format(" = {:B}", amount);
  };
  fmt::print("{} on {} x {}, {}\n", r.model.name, r.gpu_count, r.gpu->name, engine_text(r));
  const bool pools = reserves_pools(r);
  const bytes allowed = with_engine(r, [&](const auto& on) { return on.usable(*r.gpu).expected; });
  if (found.refused) {
    if (pools) {
      print_answer(r);
    } else {
      fmt::print("  refused: {}.\n", report::refusal_text(found.refused));
    }
    if (pools || !found.starts) return print_remarks(r.notes, r.warnings);
  }
  fmt::print(
      "  {:<44} {}\n",
      allowed == usable(*r.gpu).expected || !pools ? "usable per GPU" : "the engine allows itself, per GPU",
      size(allowed));
  fmt::print("  {:<44} {}\n", "left for the cache on the fullest rank", size(found.available_kv));
  std::uint64_t longest_request = work.longest_context().value;
  if (pools) longest_request = print_pools(r, found);
  const bool fixed = has_fixed_cache(r);
  const char* const set_up = std::holds_alternative<engines::llama_cpp>(r.engine)
                                 ? "cache of all requests, as --ctx-size has it"
                                 : "cache of all requests, as it is set up";
  fmt::print("  {:<44} {}\n",
             fixed ? set_up : fmt::format("cache of one request of {}", tokens{longest_request}),
             size(found.bytes_per_request));
  // A batch of Transformers also takes activations: what fits is the number of sequences below.
  const bool is_batch = fixed || std::holds_alternative<engines::transformers>(r.engine);
  if (!is_batch && found.concurrency_is_unbounded()) {
    fmt::print("  {:<44} unbounded\n", "requests of that length at once" + per_replica(r));
  } else if (!is_batch) {
    fmt::print("  {:<44} {:.2f}\n", "requests of that length at once" + per_replica(r),
               found.concurrency().approximate());
  }
  print_limit(
      fmt::format("longest context of {} sequence{}", work.sequences, work.sequences == 1 ? "" : "s").c_str(),
      found.max_context, "token");
  print_limit(fmt::format("most sequences of {}", work.longest_context()).c_str(), found.max_sequences,
              "sequence");
  print_limit(
      fmt::format("most tokens over {} sequence{}", work.sequences, work.sequences == 1 ? "" : "s").c_str(),
      found.max_tokens, "token");
  fmt::print("  {:<44} {}\n", "the workload as asked for", found.fits ? "fits" : "does not fit");
  if (pools) print_answer(r);
  const memory_budget worst = with_engine(r, [&](const auto& on) { return estimate(r.d, on, &*r.gpu); });
  std::string missing;
  for (const char* name : lines_counted_on_request) {
    if (worst.find(name) != nullptr) continue;
    const bool is_activations = detail::same_text(name, "activations");
    missing += fmt::format("{}{} ({})", missing.empty() ? "" : ", ", name,
                           is_activations ? activations_hint : framework_hint);
  }
  if (!missing.empty()) fmt::print("  {:<44} {}\n", "not counted", missing);
  print_remarks(r.notes, r.warnings);
}

int run_capacity(const request_options& options, const output_options& output) {
  const output_kind kind = output.kind();
  request r;
  options.read_into(r);
  if (!r.gpu) refuse("no GPU: capacity needs --gpu ID[xN] or --gpu-profile FILE");
  make_sequences_equal(r);
  // What varies here decides llama.cpp's sizes where nothing is set.
  if (auto* const on = std::get_if<engines::llama_cpp>(&r.engine)) on->sized_for_requests = true;
  r.sized_for_requests = true;
  check_host_memory(r);
  const capacity found = checked(r, [&] {
    return with_engine(r, [&](const auto& on) { return capacity_of(r.d, *r.gpu, on, r.asked); });
  });
  const std::uint64_t trained = r.model.max_position_embeddings;
  if (trained != 0 && found.max_context.fits &&
      (found.max_context.unbounded || found.max_context.value > trained)) {
    r.warnings.push_back(
        fmt::format("memory would hold a longer context than the {} positions that {} was trained for",
                    trained, r.model.name));
  }
  if (kind == output_kind::json) {
    nlohmann::ordered_json result = with_engine(
        r, [&](const auto& on) { return capacity_json(r.d, r.machine(), on, r.asked, r.warnings); });
    if (has_fixed_cache(r)) result["concurrency"] = result["bytes_per_max_length_request"] = nullptr;
    result["notes"] = r.notes;
    result["gpu"]["used_bytes"] = r.used_by_others.value;
    print_json(result);
  } else {
    print_text(r, found, output);
  }
  return r.require_fit && (!found.fits || r.host_memory_is_short) ? exit_does_not_fit : exit_fits;
}

}  // namespace

action add_capacity(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "capacity", "the other way round: longest context, most sequences, most tokens that fit");
  struct given {
    request_options request;
    output_options output;
  };
  const auto options = std::make_shared<given>();
  options->request.add_to(*command);
  options->output.add_json(*command);
  options->output.add_unit(*command);
  return [options] { return run_capacity(options->request, options->output); };
}

}  // namespace cli
