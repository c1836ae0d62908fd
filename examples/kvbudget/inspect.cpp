#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command_error.hpp"
#include "commands.hpp"
#include "kvbudget/io/estimate_json.hpp"
#include "kvbudget/kvbudget.hpp"
#include "kvbudget/report/format.hpp"
#include "kvbudget/report/model.hpp"
#include "model_source.hpp"
#include "output.hpp"

namespace cli {

using namespace kvbudget;
using nlohmann::ordered_json;

namespace {

/// The weights of one module: elements, bytes as they are stored, and in which formats.
struct module_line {
  module_role role = module_role::unattributed;
  std::uint64_t parameters = 0;
  std::uint64_t size = 0;
  std::vector<std::string> formats;
};

void note_format(module_line& line, const model_architecture& model, const weight_group& group) {
  const char* name = model.dtype.is_automatic() ? "dtype unknown" : model.dtype.name;
  if (group.precision != 0) name = model.precisions[group.precision - 1].name;
  if (std::find(line.formats.begin(), line.formats.end(), name) == line.formats.end()) {
    line.formats.emplace_back(name);
  }
}

/// A deployment of the model as it is stored, draft layers included; 16 bits where no dtype is named.
deployment as_stored(const model_architecture& model) {
  deployment d{.model = model};
  d.load_draft_layers = true;
  if (model.dtype.is_automatic()) d.dtype = formats::bf16;
  return d;
}

std::vector<module_line> modules_of(const model_architecture& model) {
  const deployment d = as_stored(model);
  const weight_bytes found = weights_of(d, share_of(d, rank{}));
  std::vector<module_line> lines;
  for (std::size_t i = 0; i < module_role_count; ++i) {
    module_line line;
    line.role = static_cast<module_role>(i);
    line.parameters = parameter_count(model, line.role).value;
    line.size = found.modules[i];
    if (line.parameters == 0) continue;
    for (std::size_t g = 0; g < model.weight_count; ++g) {
      if (model.weights[g].role == line.role) note_format(line, model, model.weights[g]);
    }
    for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
      const layer_kind& layer = model.kinds[kind];
      for (std::size_t g = 0; g < layer.weight_count; ++g) {
        if (layer.weights[g].role == line.role) note_format(line, model, layer.weights[g]);
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

/// Scale factors and zero points beside the modules.
std::uint64_t scales_of(const model_architecture& model) {
  const deployment d = as_stored(model);
  return weights_of(d, share_of(d, rank{})).scales;
}

/// One kind of store, and how many layers keep it.
struct cache_line {
  store kept;
  std::uint32_t layers = 0;
};

std::vector<cache_line> caches_of(const model_architecture& model) {
  std::vector<cache_line> lines;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    for (std::size_t i = 0; i < layer.store_count; ++i) {
      const auto same = std::find_if(lines.begin(), lines.end(),
                                     [&](const cache_line& line) { return line.kept == layer.stores[i]; });
      if (same == lines.end()) {
        lines.push_back({layer.stores[i], model.layers_of[kind]});
      } else {
        same->layers += model.layers_of[kind];
      }
    }
  }
  return lines;
}

/// How the 16-bit cache of one sequence grows after `context` tokens.
kv_growth growth_at(const model_architecture& model, tokens context) {
  deployment d = as_stored(model);
  d.dtype = formats::bf16;
  d.kv_cache = formats::bf16;
  return kv_growth_of(d, share_of(d, rank{}), context);
}
constexpr tokens at_start{0};
constexpr tokens beyond_every_window{std::uint64_t{1} << 40};

void print_described(const described_model& found) {
  const model_architecture& model = found.model;
  const auto line = [](const std::string& what, const std::string& value) {
    fmt::print("  {:<22} {}\n", what, value);
  };
  fmt::print("{}{} · {}\n", model.name,
             model.model_type[0] == '\0' ? "" : fmt::format(" ({})", model.model_type), found.source);
  const std::uint64_t all = parameter_count(model).value;
  line("parameters", fmt::format("{} ({:.2f}e9){}", detail::grouped(all), static_cast<double>(all) / 1e9,
                                 model.parameters_assumed ? ", some assumed or missing: see below" : ""));
  if (report::is_mixture_of_experts(model)) {
    const std::uint64_t active = active_parameter_count(model).value;
    line("active per token",
         fmt::format("{} ({:.2f}e9)", detail::grouped(active), static_cast<double>(active) / 1e9));
  }
  line("dtype", model.dtype.is_automatic() ? "not named: give --dtype" : model.dtype.name);
  if (found.quantization) line("quantization", *found.quantization);
  line("hidden size", detail::grouped(model.hidden_size));
  if (model.vocab_size != 0) {
    line("vocabulary",
         detail::grouped(model.vocab_size) + (model.tie_word_embeddings ? ", tied to the head" : ""));
  }
  if (model.max_position_embeddings != 0) {
    line("trained positions", detail::grouped(model.max_position_embeddings));
  }
  if (found.image.most != 0) {
    line("tokens per image",
         found.image.least == found.image.most
             ? detail::grouped(found.image.most)
             : detail::grouped(found.image.least) + " to " + detail::grouped(found.image.most));
  }
  line(fmt::format("layers ({})", model.num_hidden_layers), report::layer_order(model));

  fmt::print("caches\n");
  const std::vector<cache_line> caches = caches_of(model);
  for (const cache_line& cache : caches) {
    line(fmt::format("{} {}", cache.layers, cache.layers == 1 ? "layer" : "layers"),
         report::store_text(cache.kept));
  }
  if (caches.empty()) line("none", "no layer keeps anything between two steps");
  const kv_growth near = growth_at(model, at_start);
  const kv_growth far = growth_at(model, beyond_every_window);
  line("16-bit, per token", near.bytes_per_token == far.bytes_per_token
                                ? fmt::format("{} B", near.bytes_per_token)
                                : fmt::format("{} B in a short context, {} B beyond every window",
                                              near.bytes_per_token, far.bytes_per_token));
  if (near.fixed_bytes_per_sequence != bytes{}) {
    line("16-bit, per sequence", fmt::format("{} that do not grow", near.fixed_bytes_per_sequence));
  }

  fmt::print("weights{:>36}{:>14}  {}\n", "parameters",
             model.dtype.is_automatic() ? "as 16 bits" : "as stored", "format");
  for (const module_line& module : modules_of(model)) {
    fmt::print("  {:<22} {:>18} {:>13}  {}\n", std::string_view(kvbudget::name_of(module.role)).substr(8),
               detail::grouped(module.parameters), fmt::format("{:GB}", bytes{module.size}),
               fmt::join(module.formats, ", "));
  }
  if (const std::uint64_t scales = scales_of(model); scales != 0) {
    fmt::print("  {:<22} {:>18} {:>13}\n", "scales", "", fmt::format("{:GB}", bytes{scales}));
  }
  if (!found.stored.empty()) fmt::print("on disk\n");
  for (const stored_size& size : found.stored) {
    line(size.name,
         fmt::format("{}  {}", size.size ? fmt::format("{}", bytes{*size.size}) : "unknown", size.meaning));
  }
  if (found.notes.empty()) return;
  fmt::print("assumed, ignored or left open\n");
  for (const std::string& note : found.notes) fmt::print("  - {}\n", note);
}

ordered_json described_json(const described_model& found) {
  const model_architecture& model = found.model;
  ordered_json all = {{"schema", 1}, {"source", found.source}};
  all["model"] = detail::model_json(model);
  all["model"]["model_type"] = model.model_type;
  all["model"]["draft_parameters"] = parameter_count(model, module_role::draft).value;
  all["model"]["parameters_assumed"] = model.parameters_assumed;
  all["model"]["num_hidden_layers"] = model.num_hidden_layers;
  all["model"]["hidden_size"] = model.hidden_size;
  all["model"]["vocab_size"] = detail::known_or_null(model.vocab_size);
  all["model"]["tie_word_embeddings"] = model.tie_word_embeddings;
  all["quantization"] = found.quantization ? ordered_json(*found.quantization) : ordered_json(nullptr);
  all["image_tokens"] = nullptr;
  if (found.image.most != 0) all["image_tokens"] = {{"least", found.image.least}, {"most", found.image.most}};
  all["layer_order"] = report::layer_order(model);
  all["layers"] = ordered_json::array();
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    all["layers"].push_back({{"count", model.layers_of[kind]},
                             {"keeps", report::stores_text(layer)},
                             {"num_attention_heads", layer.num_attention_heads},
                             {"feed_forward", report::feed_forward_label(layer)},
                             {"parameters", std::uint64_t{layer.parameters()}}});
  }
  const kv_growth near = growth_at(model, at_start);
  const kv_growth far = growth_at(model, beyond_every_window);
  all["kv_cache_16_bit"] = {{"bytes_per_token", detail::exact_number(near.bytes_per_token)},
                            {"bytes_per_token_beyond_windows", detail::exact_number(far.bytes_per_token)},
                            {"fixed_bytes_per_sequence", near.fixed_bytes_per_sequence.value}};
  all["weights"] = ordered_json::array();
  for (const module_line& module : modules_of(model)) {
    all["weights"].push_back({{"module", std::string_view(kvbudget::name_of(module.role)).substr(8)},
                              {"parameters", module.parameters},
                              {"bytes", module.size},
                              {"formats", module.formats}});
  }
  all["scales_bytes"] = scales_of(model);
  all["stored"] = ordered_json::array();
  for (const stored_size& size : found.stored) {
    all["stored"].push_back({{"name", size.name},
                             {"bytes", size.size ? ordered_json(*size.size) : ordered_json(nullptr)},
                             {"meaning", size.meaning}});
  }
  all["notes"] = found.notes;
  return all;
}

}  // namespace

action add_inspect(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "inspect", "what a model file says: layers, caches, weights, what was assumed and what ignored");
  struct options {
    std::string file;
    std::string assume_like;
    output_options output;
  };
  const auto given = std::make_shared<options>();
  command
      ->add_option("FILE", given->file,
                   "a config.json, a model folder, .safetensors, .gguf, or a model of docs/model-schema.md")
      ->required();
  command->add_option("--assume-like", given->assume_like,
                      "read an unsupported model_type like this supported one");
  given->output.add_json(*command);
  return [given] {
    const described_model found = read_model_from(given->file, given->assume_like);
    if (given->output.kind() == output_kind::json) {
      print_json(described_json(found));
    } else {
      print_described(found);
    }
    return 0;
  };
}

}  // namespace cli
