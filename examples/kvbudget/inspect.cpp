#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache_growth.hpp"
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

/// A deployment of the model as it is stored; 16 bits where no dtype is named.
deployment as_stored(const model_architecture& model, bool load_draft_layers) {
  deployment d{.model = model};
  d.load_draft_layers = load_draft_layers;
  if (model.dtype.is_automatic()) d.dtype = formats::bf16;
  return d;
}

/// The weights module by module, as one rank without partners holds them.
struct weight_table {
  std::vector<module_line> modules;  ///< draft layers are the last one
  std::uint64_t scales = 0;          ///< scale factors and zero points beside the modules
  std::uint64_t draft_scales = 0;    ///< the same of draft layers
  std::uint64_t parameters = 0;      ///< of all modules but draft layers, which engines load only when asked
  std::uint64_t size = 0;            ///< of the same, with scales
};

weight_table weights_in(const model_architecture& model) {
  const auto bytes_with = [&](bool draft_layers) {
    const deployment d = as_stored(model, draft_layers);
    return weights_of(d, share_of(d, rank{}));
  };
  const weight_bytes all = bytes_with(true);
  weight_table table;
  table.scales = bytes_with(false).scales;
  table.draft_scales = all.scales - table.scales;
  table.size = table.scales;
  std::optional<module_line> draft;
  for (std::size_t i = 0; i < module_role_count; ++i) {
    module_line line;
    line.role = static_cast<module_role>(i);
    line.parameters = parameter_count(model, line.role).value;
    line.size = all.modules[i];
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
    if (line.role == module_role::draft) {
      draft = std::move(line);
      continue;
    }
    table.parameters += line.parameters;
    table.size += line.size;
    table.modules.push_back(std::move(line));
  }
  if (draft) table.modules.push_back(std::move(*draft));
  return table;
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

/// Experts of which a token uses some, and how many layers have as many.
struct expert_line {
  std::uint32_t num_experts = 0;
  std::uint32_t num_experts_per_tok = 0;
  std::uint32_t layers = 0;
};
constexpr std::uint64_t batches[] = {8, 64, 512};  ///< tokens that distinct experts are told for

std::vector<expert_line> experts_of(const model_architecture& model) {
  std::vector<expert_line> lines;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    if (layer.num_experts == 0) continue;
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const expert_line& line) {
      return line.num_experts == layer.num_experts && line.num_experts_per_tok == layer.num_experts_per_tok;
    });
    if (same == lines.end()) {
      lines.push_back({layer.num_experts, layer.num_experts_per_tok, model.layers_of[kind]});
    } else {
      same->layers += model.layers_of[kind];
    }
  }
  return lines;
}

constexpr std::size_t page_columns = 100;
constexpr std::size_t text_column = 25;

/// Prints `lines` under each other, the first one behind `title`.
void print_under(const std::string& title, const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    fmt::print("  {:<22} {}\n", i == 0 ? title : "", lines[i]);
  }
}
void print_line(const std::string& title, const std::string& text) { print_under(title, {text}); }

/// The order of layers in lines: broken only between its parts, never within the parentheses of one.
std::vector<std::string> order_in_lines(const std::string& order) {
  std::vector<std::string> lines(1);
  std::string part;
  int depth = 0;
  const auto place = [&] {
    const std::size_t used = kvbudget::detail::display_width(lines.back());
    const std::size_t room = page_columns - text_column;
    if (used != 0 && used + 1 + kvbudget::detail::display_width(part) > room) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + part;
    part.clear();
  };
  for (const char c : order) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ' ' && depth == 0) {
      place();
    } else {
      part += c;
    }
  }
  place();
  return lines;
}

/// A size as one number of at most three digits before the point, or of GB: "1.95 MB".
std::string short_size(std::uint64_t size) {
  const byte_unit unit = kvbudget::detail::natural_unit(bytes{size}, 2);
  return kvbudget::detail::number_in(bytes{size}, unit, 2) + " " + name_of(unit);
}

std::string layers_text(std::uint32_t layers) {
  return fmt::format("{} {}", layers, layers == 1 ? "layer" : "layers");
}

void print_caches(const model_architecture& model) {
  fmt::print("caches\n");
  const std::vector<cache_line> caches = caches_of(model);
  for (const cache_line& cache : caches)
    print_line(layers_text(cache.layers), report::store_text(cache.kept));
  if (caches.empty()) return print_line("none", "no layer keeps anything between two steps");
  const kv_growth near = growth_in_16_bits(model, at_start);
  const kv_growth far = growth_in_16_bits(model, beyond_every_window);
  const auto each = [](const ratio& size) {
    return size.denominator == 1 ? kvbudget::detail::grouped(size.numerator) : fmt::format("{}", size);
  };
  print_line("16 bits, per token", near.bytes_per_token == far.bytes_per_token
                                       ? each(near.bytes_per_token) + " B"
                                       : fmt::format("{} B in a short context, {} B beyond every window",
                                                     each(near.bytes_per_token), each(far.bytes_per_token)));
  const bytes first = near.fixed_bytes_per_sequence;
  const bytes last = far.fixed_bytes_per_sequence;
  if (last == bytes{}) return;
  print_line("16 bits, per sequence",
             first == last ? fmt::format("{} that do not grow", last)
             : first == bytes{}
                 ? fmt::format("{} in full windows", last)
                 : fmt::format("{} from the first token on, {} with full windows", first, last));
}

void print_weights(const model_architecture& model) {
  const weight_table table = weights_in(model);
  struct row {
    std::string name, parameters, size, format;
  };
  std::vector<row> rows;
  const auto add = [&](const module_line& module) {
    rows.push_back({std::string(std::string_view(kvbudget::name_of(module.role)).substr(8)),
                    kvbudget::detail::grouped(module.parameters), short_size(module.size),
                    fmt::format("{}", fmt::join(module.formats, ", "))});
  };
  const bool has_draft = !table.modules.empty() && table.modules.back().role == module_role::draft;
  for (std::size_t i = 0; i + (has_draft ? 1 : 0) < table.modules.size(); ++i) add(table.modules[i]);
  if (table.scales != 0) rows.push_back({"scales", "", short_size(table.scales), ""});
  rows.push_back({"total", kvbudget::detail::grouped(table.parameters), short_size(table.size), ""});
  if (has_draft) {
    module_line draft = table.modules.back();
    draft.size += table.draft_scales;
    add(draft);
    rows.back().format += table.draft_scales == 0 ? "; beside the total" : " and scales; beside the total";
  }
  const char* sizes = model.dtype.is_automatic() ? "as 16 bits" : "as stored";
  std::size_t widest = 10;
  std::size_t widest_size = 10;
  for (const row& each : rows) {
    widest = std::max(widest, each.parameters.size());
    widest_size = std::max(widest_size, each.size.size());
  }
  fmt::print("{:<24} {:>{}}  {:>{}}  format\n", "weights", "parameters", widest, sizes, widest_size);
  for (const row& each : rows) {
    const std::string line = fmt::format("  {:<22} {:>{}}  {:>{}}  {}", each.name, each.parameters, widest,
                                         each.size, widest_size, each.format);
    fmt::print("{}\n", std::string_view(line).substr(0, line.find_last_not_of(' ') + 1));
  }
}

void print_remarks_under(const char* title, const std::vector<std::string>& remarks) {
  if (!remarks.empty()) fmt::print("{}\n", title);
  for (const std::string& remark : remarks) {
    const char* mark = "-";
    for (const std::string& line : kvbudget::detail::wrapped(remark, page_columns - 4)) {
      fmt::print("  {} {}\n", mark, line);
      mark = " ";
    }
  }
}

void print_described(const described_model& found, const std::string& place) {
  const model_architecture& model = found.model;
  using kvbudget::detail::grouped;
  const auto in_billions = [](std::uint64_t n) {
    if (n < 1'000'000) return grouped(n);
    return fmt::format("{} ({:.{}f}e9)", grouped(n), static_cast<double>(n) / 1e9, n < 100'000'000 ? 3 : 2);
  };
  fmt::print("{}{} · {} · {}\n", model.name,
             model.model_type[0] == '\0' ? "" : fmt::format(" ({})", model.model_type), found.source, place);
  std::string parameters = in_billions(parameter_count(model).value);
  if (const std::uint64_t draft = parameter_count(model, module_role::draft).value; draft != 0) {
    parameters += fmt::format(", {} of them in draft layers", grouped(draft));
  }
  if (model.parameters_assumed) parameters += ", some assumed or not counted: see below";
  print_line("parameters", parameters);
  if (report::is_mixture_of_experts(model)) {
    print_line("active per token", in_billions(active_parameter_count(model).value));
    std::vector<std::string> lines;
    for (const expert_line& each : experts_of(model)) {
      std::string line = fmt::format("{} of {} in {}; expected in use:", each.num_experts_per_tok,
                                     each.num_experts, layers_text(each.layers));
      for (const std::uint64_t batch : batches) {
        const double distinct =
            expected_distinct_experts(each.num_experts, each.num_experts_per_tok, tokens{batch});
        line += fmt::format("{} {:.1f} by {}{}", batch == batches[0] ? "" : ",", distinct, batch,
                            batch == batches[0] ? " tokens" : "");
      }
      lines.push_back(std::move(line));
    }
    print_under("experts", lines);
  }
  print_line("dtype", model.dtype.is_automatic() ? "not named: give --dtype" : model.dtype.name);
  if (found.quantization) print_line("quantization", *found.quantization);
  print_line("hidden size", grouped(model.hidden_size));
  if (model.vocab_size != 0) {
    print_line("vocabulary",
               grouped(model.vocab_size) + (model.tie_word_embeddings ? ", tied to the head" : ""));
  }
  if (model.max_position_embeddings != 0) {
    print_line("trained positions", grouped(model.max_position_embeddings));
  }
  if (found.image.most != 0) {
    print_line("tokens per image", found.image.least == found.image.most
                                       ? grouped(found.image.most)
                                       : grouped(found.image.least) + " to " + grouped(found.image.most));
  }
  print_under(fmt::format("layers ({})", model.num_hidden_layers),
              order_in_lines(report::layer_order(model)));
  print_caches(model);
  print_weights(model);
  if (!found.stored.empty()) fmt::print("on disk\n");
  for (const stored_size& size : found.stored) {
    const std::string known =
        size.size ? fmt::format("{} B ({})", grouped(*size.size), short_size(*size.size)) : "unknown";
    print_under(size.name,
                kvbudget::detail::wrapped(known + ": " + size.meaning, page_columns - text_column));
  }
  print_remarks_under("doubtful: figures may be others", found.warnings);
  print_remarks_under("assumed, ignored or left open", found.notes);
}

ordered_json described_json(const described_model& found, const std::vector<std::string>& files) {
  const model_architecture& model = found.model;
  ordered_json all = {{"schema", 1}, {"source", found.source}, {"files", files}};
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
  const kv_growth near = growth_in_16_bits(model, at_start);
  const kv_growth far = growth_in_16_bits(model, beyond_every_window);
  all["kv_cache_16_bit"] = {
      {"bytes_per_token", detail::exact_number(near.bytes_per_token)},
      {"bytes_per_token_beyond_windows", detail::exact_number(far.bytes_per_token)},
      {"fixed_bytes_per_sequence", near.fixed_bytes_per_sequence.value},
      {"fixed_bytes_per_sequence_with_full_windows", far.fixed_bytes_per_sequence.value}};
  all["experts"] = ordered_json::array();
  for (const expert_line& each : experts_of(model)) {
    ordered_json distinct = ordered_json::array();
    for (const std::uint64_t batch : batches) {
      distinct.push_back({{"tokens", batch},
                          {"experts", expected_distinct_experts(each.num_experts, each.num_experts_per_tok,
                                                                tokens{batch})}});
    }
    all["experts"].push_back({{"num_experts", each.num_experts},
                              {"num_experts_per_tok", each.num_experts_per_tok},
                              {"layers", each.layers},
                              {"expected_distinct", std::move(distinct)}});
  }
  const weight_table table = weights_in(model);
  all["weights"] = ordered_json::array();
  for (const module_line& module : table.modules) {
    all["weights"].push_back({{"module", std::string_view(kvbudget::name_of(module.role)).substr(8)},
                              {"parameters", module.parameters},
                              {"bytes", module.size},
                              {"formats", module.formats}});
  }
  all["scales_bytes"] = table.scales;
  all["draft_scales_bytes"] = table.draft_scales;
  all["weights_bytes"] = table.size;
  all["stored"] = ordered_json::array();
  for (const stored_size& size : found.stored) {
    all["stored"].push_back({{"name", size.name},
                             {"bytes", size.size ? ordered_json(*size.size) : ordered_json(nullptr)},
                             {"meaning", size.meaning}});
  }
  all["warnings"] = found.warnings;
  all["notes"] = found.notes;
  return all;
}

}  // namespace

action add_inspect(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "inspect", "what a model file says: layers, caches, weights, what was assumed and what ignored");
  struct options {
    std::vector<std::string> files;
    std::string assume_like;
    output_options output;
  };
  const auto given = std::make_shared<options>();
  command
      ->add_option("FILE", given->files,
                   "a config.json, a model folder, .safetensors, .gguf, or a model of docs/model-schema.md; "
                   "several: the GGUF files of one model, and its projector (mmproj)")
      ->required();
  command->add_option("--assume-like", given->assume_like,
                      "read an unsupported model_type like this supported one");
  given->output.add_json(*command);
  return [given] {
    const described_model found = read_model_from(given->files, given->assume_like);
    if (given->output.kind() == output_kind::json) {
      print_json(described_json(found, given->files));
    } else {
      std::string place = kvbudget::detail::printable(given->files.front());
      if (const std::size_t further = given->files.size() - 1; further != 0) {
        place += fmt::format(" and {} more", further);
      }
      print_described(found, place);
    }
    return 0;
  };
}

}  // namespace cli
