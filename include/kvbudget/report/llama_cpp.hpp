#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/engine/llama_cpp.hpp"
#include "kvbudget/report/csv.hpp"
#include "kvbudget/report/format.hpp"
#include "kvbudget/report/grid.hpp"

/// What llama.cpp puts on every device, as tables.
namespace kvbudget::inline v0 {

namespace detail {

/// Header, one row per GPU and one of the host.
[[nodiscard]] inline report::grid devices_grid(const llama_cpp_memory& memory, byte_unit asked) {
  bytes largest = memory.host.total();
  for (std::uint32_t i = 0; i < memory.gpu_count; ++i) largest = larger(largest, memory.gpus[i].total());
  const byte_unit unit = unit_for(asked, largest, 2);
  bool ranges = false;
  const auto has_range = [&](const llama_cpp_buffers& held) {
    ranges = ranges || held.compute.range.low != held.compute.range.high;
  };
  for (std::uint32_t i = 0; i < memory.gpu_count; ++i) has_range(memory.gpus[i]);
  has_range(memory.host);

  const auto size = [unit](bytes amount) { return visible_number_in(amount, unit, 2); };
  report::grid grid;
  grid.rows.push_back({std::string("device, in ") + name_of(unit), "model", "context", "compute", "sum"});
  if (ranges) grid.rows.back().emplace_back("compute, low – high");
  const auto add = [&](std::string name, const llama_cpp_buffers& held) {
    std::vector<std::string> row = {std::move(name), size(held.model_total()), size(held.context_total()),
                                    size(held.compute_total()), size(held.total())};
    const byte_range& range = held.compute.range;
    if (ranges) {
      row.push_back(range.low == range.high ? "" : size(bytes{range.low}) + " – " + size(bytes{range.high}));
    }
    grid.rows.push_back(std::move(row));
  };
  for (std::uint32_t i = 0; i < memory.gpu_count; ++i) add("GPU" + std::to_string(i), memory.gpus[i]);
  add("host", memory.host);
  return grid;
}

}  // namespace detail

namespace report {

/// What the devices hold beside those buffers, and the sizes that llama.cpp settles on; one sentence each.
[[nodiscard]] inline std::vector<std::string> device_notes(const llama_cpp_memory& memory) {
  const auto grouped = [](std::uint64_t n) { return detail::grouped(n); };
  const llama_cpp_cache::sizes& sizes = memory.sizes;
  std::vector<std::string> notes;
  notes.push_back(
      fmt::format("n_ctx {} cells in {} cache{}: n_ctx_seq {} for a sequence, {} sequence{}, n_batch {}, "
                  "n_ubatch {}, flash "
                  "attention {}.",
                  grouped(sizes.n_ctx), grouped(sizes.n_stream), sizes.n_stream == 1 ? "" : "s",
                  grouped(sizes.n_ctx_seq), grouped(sizes.n_seq_max), sizes.n_seq_max == 1 ? "" : "s",
                  grouped(sizes.n_batch), grouped(sizes.n_ubatch), sizes.flash_attn ? "on" : "off"));
  std::string outside = fmt::format("Outside every report: logits of {} in host memory", memory.output);
  if (memory.gpu_count != 0) outside += "; on each GPU the CUDA context and its pools (framework)";
  notes.push_back(outside + '.');
  if (memory.mapped_high > memory.host.model_total()) {
    notes.push_back(
        fmt::format("Weights are mapped from the file: the host's model buffer is shown as up to {}.",
                    memory.mapped_high));
  }
  if (memory.pipelined) notes.emplace_back("Pipeline parallel: every input exists four times.");
  return notes;
}

/// The buffers of every device in aligned columns, and the notes below; no newline at the end.
[[nodiscard]] inline std::string devices_table(const llama_cpp_memory& memory,
                                               byte_unit unit = byte_unit::automatic) {
  std::string out = aligned(detail::devices_grid(memory, unit));
  for (const std::string& note : device_notes(memory)) out.append("\n").append(note);
  return out;
}

/// The same as a Markdown table.
[[nodiscard]] inline std::string devices_markdown(const llama_cpp_memory& memory,
                                                  byte_unit unit = byte_unit::automatic) {
  std::string out = markdown(detail::devices_grid(memory, unit)) + '\n';
  for (const std::string& note : device_notes(memory)) {
    out.append("\n- ").append(detail::markdown_text(note));
  }
  return out;
}

/// The host's ledger as further rows below `csv(cluster)`, with `host` as their kind of rank; starts with a
/// newline.
[[nodiscard]] inline std::string host_csv_rows(const memory_budget& host) {
  std::string out;
  detail::add_csv_rows(out, host, "host,1,,,");
  return out;
}

}  // namespace report

}  // namespace kvbudget::inline v0
