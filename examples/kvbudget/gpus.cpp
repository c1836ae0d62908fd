#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "command_error.hpp"
#include "commands.hpp"
#include "kvbudget/io/lookup_text.hpp"
#include "kvbudget/kvbudget.hpp"
#include "kvbudget/lookup/gpu_aliases.hpp"
#include "kvbudget/lookup/gpu_lookup.hpp"
#include "kvbudget/report/format.hpp"
#include "output.hpp"

namespace cli {

using namespace kvbudget;
using nlohmann::ordered_json;

namespace {

ordered_json figure(std::uint64_t value) { return value == 0 ? ordered_json(nullptr) : ordered_json(value); }

const char* support_text(native_support support) {
  switch (support) {
    case native_support::native: return "native";
    case native_support::emulated: return "emulated";
    case native_support::unknown: return "unknown";
  }
  return "unknown";
}

std::vector<std::string> aliases_of(const gpu_profile& gpu) {
  std::vector<std::string> found;
  for (const gpus::alias_entry& entry : gpus::aliases) {
    if (entry.gpu == &gpu) found.emplace_back(entry.alias);
  }
  return found;
}

/// Whether `usable` has an answer without opting in.
bool has_seen_total(const gpu_profile& gpu) { return detail::usable_as_seen(gpu).high != bytes{}; }

ordered_json gpu_details(const gpu_profile& gpu) {
  ordered_json all = {{"id", gpu.id},
                      {"name", gpu.name},
                      {"vendor", detail::vendor_word(gpu.vendor)},
                      {"architecture", gpu.architecture},
                      {"compute_capability", gpu.compute_capability},
                      {"aliases", aliases_of(gpu)},
                      {"nominal_bytes", figure(gpu.nominal_bytes)},
                      {"total_bytes", figure(gpu.driver_total_bytes)},
                      {"total_ecc_off_bytes", figure(gpu.driver_total_ecc_off_bytes)},
                      {"total_ecc_on_bytes", figure(gpu.driver_total_ecc_on_bytes)},
                      {"runtime_total_bytes", figure(gpu.runtime_total_bytes)},
                      {"ram_bytes", figure(gpu.ram_bytes)}};
  all["usable_bytes"] = nullptr;
  if (has_seen_total(gpu)) {
    const usable_memory memory = usable(gpu);
    all["usable_bytes"] = memory.expected.value;
    all["usable_low"] = memory.low.value;
    all["usable_high"] = memory.high.value;
    all["usable_basis"] = name_of(memory.known);
  }
  all["bandwidth_bytes_per_second"] = figure(gpu.bandwidth_bytes_per_second);
  all["bf16_dense_flops"] = figure(gpu.bf16_dense_flops);
  all["fp8_dense_flops"] = figure(gpu.fp8_dense_flops);
  all["int8_dense_ops"] = figure(gpu.int8_dense_ops);
  all["fp4_dense_flops"] = figure(gpu.fp4_dense_flops);
  all["fp8"] = support_text(gpu.fp8);
  all["fp4"] = support_text(gpu.fp4);
  all["link_bytes_per_second"] = figure(gpu.link_bytes_per_second);
  all["pcie_generation"] = figure(gpu.pcie_generation);
  all["unified_memory"] = gpu.unified_memory;
  return all;
}

std::string size_or_dash(std::uint64_t value, byte_unit unit) {
  if (value == 0) return "-";
  return detail::number_in(bytes{value}, unit, 2) + ' ' + name_of(unit);
}

void print_list(const std::vector<const gpu_profile*>& list, byte_unit unit) {
  fmt::print("{:<34} {:>12} {:>14} {:>14}  {}\n", "id", "on the box", "driver total", "usable", "fp8");
  for (const gpu_profile* gpu : list) {
    const std::uint64_t usable_bytes = has_seen_total(*gpu) ? usable(*gpu).expected.value : 0;
    fmt::print("{:<34} {:>12} {:>14} {:>14}  {}\n", gpu->id, size_or_dash(gpu->nominal_bytes, unit),
               size_or_dash(gpu->driver_total_bytes, unit), size_or_dash(usable_bytes, unit),
               support_text(gpu->fp8));
  }
  fmt::print(
      "{} GPUs. \"-\" is not known; without a usable figure measure it (--gpu-total-bytes) or pass "
      "--nominal.\n",
      list.size());
}

void print_one(const gpu_profile& gpu) {
  const auto size = [](const char* what, std::uint64_t value) {
    if (value != 0) fmt::print("  {:<30} {} = {:B}\n", what, bytes{value}, bytes{value});
  };
  fmt::print("{} ({})\n", gpu.id, gpu.name);
  fmt::print("  {:<30} {} {}\n", "architecture", gpu.architecture, gpu.compute_capability);
  size("on the box", gpu.nominal_bytes);
  size("driver reports", gpu.driver_total_bytes);
  size("driver reports, ECC off", gpu.driver_total_ecc_off_bytes);
  size("driver reports, ECC on", gpu.driver_total_ecc_on_bytes);
  size("a program sees", gpu.runtime_total_bytes);
  size("RAM of the machine", gpu.ram_bytes);
  if (has_seen_total(gpu)) {
    const usable_memory memory = usable(gpu);
    fmt::print("  {:<30} {} = {:B} ({})\n", "usable", memory.expected, memory.expected,
               name_of(memory.known));
    if (memory.low != memory.high) {
      fmt::print("  {:<30} {:B} to {:B}\n", "usable, lowest to highest", memory.low, memory.high);
    }
  } else {
    fmt::print("  {:<30} not known: measure it (--gpu-total-bytes) or pass --nominal\n", "usable");
  }
  const auto speed = [](const char* what, std::uint64_t value, const char* unit) {
    if (value != 0) fmt::print("  {:<30} {:g} {}\n", what, static_cast<double>(value) / 1e12, unit);
  };
  speed("memory bandwidth", gpu.bandwidth_bytes_per_second, "TB/s");
  speed("BF16 dense", gpu.bf16_dense_flops, "TFLOP/s");
  speed("FP8 dense", gpu.fp8_dense_flops, "TFLOP/s");
  speed("INT8 dense", gpu.int8_dense_ops, "TOP/s");
  speed("FP4 dense", gpu.fp4_dense_flops, "TFLOP/s");
  fmt::print("  {:<30} fp8 {}, fp4 {}\n", "in hardware", support_text(gpu.fp8), support_text(gpu.fp4));
  const std::vector<std::string> aliases = aliases_of(gpu);
  if (!aliases.empty()) fmt::print("  {:<30} {}\n", "also called", fmt::join(aliases, ", "));
}

/// The GPUs of a filter: the one that the name means, or all whose ids and names hold every word.
std::vector<const gpu_profile*> matching(const std::string& filter) {
  if (filter.empty()) return {std::begin(gpus::all), std::end(gpus::all)};
  const gpu_lookup found = find_gpu(filter.c_str());
  if (found.gpu != nullptr) return {found.gpu};
  std::vector<const gpu_profile*> list;
  for (const gpu_profile* gpu : gpus::all) {
    if (detail::every_word_is_in(filter.c_str(), gpu->id, gpu->name) ||
        detail::matches(detail::key_of(filter.c_str()), detail::vendor_word(gpu->vendor)) ||
        detail::matches(detail::key_of(filter.c_str()), gpu->architecture)) {
      list.push_back(gpu);
    }
  }
  if (list.empty()) throw command_error(explain(found, filter));
  return list;
}

}  // namespace

action add_gpus(CLI::App& app) {
  CLI::App* command = app.add_subcommand("gpus", "the GPUs of the catalogue; one of them in full");
  struct options {
    std::string filter;
    output_options output;
  };
  const auto given = std::make_shared<options>();
  command->add_option("FILTER", given->filter,
                      "an id, a name, or words of them: h200, \"h100 sxm\", amd, hopper");
  given->output.add_json(*command);
  given->output.add_unit(*command);
  return [given] {
    const std::vector<const gpu_profile*> list = matching(given->filter);
    const byte_unit unit = given->output.unit();
    if (given->output.kind() == output_kind::json) {
      ordered_json all = ordered_json::array();
      for (const gpu_profile* gpu : list) all.push_back(gpu_details(*gpu));
      print_json(all);
    } else if (list.size() == 1) {
      print_one(*list.front());
    } else {
      print_list(list, unit == byte_unit::automatic ? byte_unit::GB : unit);
    }
    return 0;
  };
}

}  // namespace cli
