#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/hardware/gpu_profile.hpp"
#include "kvbudget/io/json_reader.hpp"

namespace kvbudget::inline v0 {

/// A GPU file: the profile and the further names of the GPU. The sources of the figures are checked for
/// presence and not kept.
struct gpu_file {
  gpu_profile profile;
  std::vector<std::string> aliases;
};

namespace detail {

/// `{"value": N, "source": "...", "note": "...", "inferred": true}`; 0 where there is no such member.
[[nodiscard]] inline std::uint64_t gpu_figure(const json_field& section, const char* name,
                                              std::uint64_t* rounding = nullptr) {
  const std::optional<json_field> figure = section.find(name);
  if (!figure) return 0;
  if (rounding != nullptr) {
    figure->allow_only({"value", "rounding_bytes", "source", "note", "inferred"});
    if (const std::optional<json_field> half = figure->find("rounding_bytes")) {
      *rounding = half->positive_integer();
    }
  } else {
    figure->allow_only({"value", "source", "note", "inferred"});
  }
  const std::uint64_t value = figure->at("value").positive_integer();
  if (figure->required_text("source").empty()) figure->at("source").refuse("must not be empty");
  (void)figure->optional_text("note");
  (void)figure->optional_flag("inferred");
  if (rounding != nullptr && *rounding > value)
    figure->at("rounding_bytes").refuse("is larger than the value");
  return value;
}

[[nodiscard]] inline native_support gpu_support(const json_field& section, const char* name) {
  const std::optional<json_field> member = section.find(name);
  if (!member) return native_support::unknown;
  member->allow_only({"value", "source", "note"});
  if (member->required_text("source").empty()) member->at("source").refuse("must not be empty");
  const json_field value = member->at("value");
  if (value.text() == "native") return native_support::native;
  if (value.text() == "emulated") return native_support::emulated;
  value.refuse("must be native or emulated (leave out what is not known), not \"" +
               printable(value.text(), 40) + "\"");
}

/// Lower case words joined by `-`.
inline void refuse_unless_id(const json_field& field) {
  const std::string& id = field.text();
  bool good = !id.empty() && id.front() != '-' && id.back() != '-';
  for (std::size_t i = 0; good && i < id.size(); ++i) {
    const char c = id[i];
    good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c == '-' && id[i - 1] != '-');
  }
  if (!good) field.refuse("must be lower case words joined by '-', not \"" + printable(id, 60) + "\"");
}

[[nodiscard]] inline gpu_file read_gpu(const json_field& root) {
  root.allow_only({"schema", "id", "name", "vendor", "architecture", "compute_capability", "aliases",
                   "memory", "compute", "links", "notes"});
  if (root.required_integer("schema") != 1) root.at("schema").refuse("must be 1");

  gpu_file file;
  gpu_profile& gpu = file.profile;
  root.at("id").copy_text(gpu.id);
  refuse_unless_id(root.at("id"));
  root.at("name").copy_text(gpu.name);
  const json_field vendor = root.at("vendor");
  if (vendor.text() == "nvidia") {
    gpu.vendor = gpu_vendor::nvidia;
  } else if (vendor.text() == "amd") {
    gpu.vendor = gpu_vendor::amd;
  } else if (vendor.text() == "intel") {
    gpu.vendor = gpu_vendor::intel;
  } else if (vendor.text() == "apple") {
    gpu.vendor = gpu_vendor::apple;
  } else {
    vendor.refuse("must be nvidia, amd, intel or apple, not \"" + printable(vendor.text(), 40) + "\"");
  }
  if (const auto member = root.find("architecture")) member->copy_text(gpu.architecture);
  if (const auto member = root.find("compute_capability")) member->copy_text(gpu.compute_capability);
  if (const auto aliases = root.find("aliases")) {
    const std::size_t count = aliases->size();
    for (std::size_t i = 0; i < count; ++i) {
      const json_field alias = aliases->at(i);
      char bounded[80];
      alias.copy_text(bounded);
      refuse_unless_id(alias);
      file.aliases.emplace_back(bounded);
    }
  }
  if (const auto notes = root.find("notes")) {
    const std::size_t count = notes->size();
    for (std::size_t i = 0; i < count; ++i) (void)notes->at(i).text();
  }

  const json_field memory = root.at("memory");
  memory.allow_only({"nominal_bytes", "driver_total_bytes", "driver_total_ecc_off_bytes",
                     "driver_total_ecc_on_bytes", "runtime_total_bytes", "ram_bytes",
                     "bandwidth_bytes_per_second", "unified", "working_set_assumed"});
  gpu.nominal_bytes = gpu_figure(memory, "nominal_bytes");
  gpu.driver_total_bytes = gpu_figure(memory, "driver_total_bytes");
  gpu.driver_total_ecc_off_bytes = gpu_figure(memory, "driver_total_ecc_off_bytes");
  gpu.driver_total_ecc_on_bytes = gpu_figure(memory, "driver_total_ecc_on_bytes");
  gpu.runtime_total_bytes = gpu_figure(memory, "runtime_total_bytes", &gpu.runtime_total_rounding_bytes);
  gpu.ram_bytes = gpu_figure(memory, "ram_bytes");
  gpu.bandwidth_bytes_per_second = gpu_figure(memory, "bandwidth_bytes_per_second");
  gpu.unified_memory = memory.optional_flag("unified").value_or(false);
  gpu.working_set_assumed = memory.optional_flag("working_set_assumed").value_or(false);
  if (gpu.working_set_assumed && gpu.runtime_total_bytes == 0) {
    memory.at("working_set_assumed").refuse("needs runtime_total_bytes, which is missing");
  }

  if (const auto compute = root.find("compute")) {
    compute->allow_only(
        {"bf16_dense_flops", "fp8_dense_flops", "int8_dense_ops", "fp4_dense_flops", "fp8", "fp4"});
    gpu.bf16_dense_flops = gpu_figure(*compute, "bf16_dense_flops");
    gpu.fp8_dense_flops = gpu_figure(*compute, "fp8_dense_flops");
    gpu.int8_dense_ops = gpu_figure(*compute, "int8_dense_ops");
    gpu.fp4_dense_flops = gpu_figure(*compute, "fp4_dense_flops");
    gpu.fp8 = gpu_support(*compute, "fp8");
    gpu.fp4 = gpu_support(*compute, "fp4");
  }
  if (const auto links = root.find("links")) {
    links->allow_only({"link_bytes_per_second", "pcie_generation"});
    gpu.link_bytes_per_second = gpu_figure(*links, "link_bytes_per_second");
    const std::uint64_t generation = gpu_figure(*links, "pcie_generation");
    if (generation > 99) links->at("pcie_generation").refuse("must be below 100");
    gpu.pcie_generation = static_cast<std::uint32_t>(generation);
  }
  return file;
}

}  // namespace detail

/// A GPU from JSON in the schema of `data/gpus/*.json`, with its aliases; `source` is what errors call it.
/// Anything missing, unknown, mistyped, negative, fractional or too large throws `input_error`.
[[nodiscard]] inline gpu_file parse_gpu_file(const nlohmann::json& value, std::string_view source) {
  const std::string name = detail::printable(source);
  return detail::read_gpu(json_field(value, name));
}

/// The same without the aliases.
[[nodiscard]] inline gpu_profile parse_gpu_profile(const nlohmann::json& value, std::string_view source) {
  return parse_gpu_file(value, source).profile;
}

/// Reads one GPU file of at most 1 MiB; see `parse_gpu_file` and `load_json` for what is refused.
[[nodiscard]] inline gpu_file load_gpu_file(const std::filesystem::path& path) {
  const json_document document = load_json(path, {.bytes = std::uint64_t{1} << 20, .depth = 8});
  return detail::read_gpu(json_field(document));
}

/// The same without the aliases.
[[nodiscard]] inline gpu_profile load_gpu_profile(const std::filesystem::path& path) {
  return load_gpu_file(path).profile;
}

}  // namespace kvbudget::inline v0
