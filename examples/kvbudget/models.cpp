#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache_growth.hpp"
#include "command_error.hpp"
#include "commands.hpp"
#include "kvbudget/io/estimate_json.hpp"
#include "kvbudget/io/format_names.hpp"
#include "kvbudget/io/quantity_text.hpp"
#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"
#include "kvbudget/report/format.hpp"
#include "kvbudget/report/model.hpp"
#include "output.hpp"
#include "request.hpp"

namespace cli {

using namespace kvbudget;
using nlohmann::ordered_json;

namespace {

std::vector<std::string> names_of(const model_architecture& model) {
  std::vector<std::string> found;
  for (const auto& each : models::names) {
    if (each.model == &model) found.emplace_back(each.name);
  }
  return found;
}

/// At the end of the trained context stores whose window is full do not grow.
tokens trained_end(const model_architecture& model) {
  return model.max_position_embeddings == 0 ? beyond_every_window
                                            : tokens{model.max_position_embeddings - 1u};
}

/// Bytes that one further token takes after so many, in two-byte elements.
ratio token_growth(const model_architecture& model, tokens context) {
  return growth_in_16_bits(model, context).bytes_per_token;
}

ordered_json model_details(const model_architecture& model) {
  ordered_json all = detail::model_json(model);
  all["model_type"] = model.model_type;
  all["names"] = names_of(model);
  all["precisions"] = ordered_json::array();
  for (std::size_t i = 0; i < model.precision_count; ++i)
    all["precisions"].push_back(model.precisions[i].name);
  all["num_hidden_layers"] = model.num_hidden_layers;
  all["hidden_size"] = model.hidden_size;
  all["vocab_size"] = detail::known_or_null(model.vocab_size);
  all["tie_word_embeddings"] = model.tie_word_embeddings;
  ordered_json layers = ordered_json::array();
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    layers.push_back({{"count", model.layers_of[kind]},
                      {"num_attention_heads", layer.num_attention_heads},
                      {"keeps", report::stores_text(layer)},
                      {"parameters", layer.parameters()}});
  }
  all["layers"] = std::move(layers);
  all["kv_bytes_per_token_16_bit"] = detail::exact_number(token_growth(model, at_start));
  all["kv_bytes_per_token_16_bit_at_end"] = detail::exact_number(token_growth(model, trained_end(model)));
  return all;
}

std::string parameters_text(std::uint64_t count) {
  return fmt::format("{:.2f}e9", static_cast<double>(count) / 1e9);
}

std::string dtype_text(const model_architecture& model) {
  return stored_as(model, model.dtype.is_automatic() ? "-" : model.dtype.name);
}

void print_list(const std::vector<const model_architecture*>& list) {
  if (list.empty()) return fmt::print("No model of the catalogue is of this kind.\n");
  std::size_t names = 4;
  std::size_t types = 4;
  std::size_t dtypes = 5;
  for (const model_architecture* model : list) {
    names = std::max(names, std::string_view(model->name).size());
    types = std::max(types, std::string_view(model->model_type).size());
    dtypes = std::max(dtypes, dtype_text(*model).size());
  }
  const auto line = [&](const auto&... cells) {
    fmt::print("{:<{}}  {:<{}} {:>11} {:>10} {:>7} {:>10}  {:<{}} {:>13} {:>11}\n", cells...);
  };
  line("name", names, "type", types, "parameters", "per token", "layers", "positions", "dtype", dtypes,
       "KV B/token", "at the end");
  for (const model_architecture* model : list) {
    const std::string positions =
        model->max_position_embeddings == 0 ? "-" : detail::grouped(model->max_position_embeddings);
    const std::string active = report::is_mixture_of_experts(*model)
                                   ? parameters_text(active_parameter_count(*model).value)
                                   : std::string("all");
    line(model->name, names, model->model_type, types, parameters_text(parameter_count(*model).value), active,
         model->num_hidden_layers, positions, dtype_text(*model), dtypes,
         fmt::format("{}", token_growth(*model, at_start)),
         fmt::format("{}", token_growth(*model, trained_end(*model))));
  }
  fmt::print(
      "KV B/token: cache bytes of one further token in 16-bit formats, at the start of a context and "
      "at the end of the trained one.\n");
  fmt::print("{} model{}. Any other: --config config.json, or by hand.\n", list.size(),
             list.size() == 1 ? "" : "s");
}

void print_one(const model_architecture& model) {
  const auto line = [](const char* what, const std::string& value) {
    fmt::print("  {:<22} {}\n", what, value);
  };
  fmt::print("{}\n", model.name);
  const std::uint64_t parameters = parameter_count(model).value;
  line("parameters", fmt::format("{} ({})", detail::grouped(parameters), parameters_text(parameters)));
  if (report::is_mixture_of_experts(model)) {
    line("of them per token", detail::grouped(active_parameter_count(model).value));
  }
  if (model.parameters_assumed) line("", "a total without shapes: weights are assumed to be spread evenly");
  line("dtype", model.dtype.is_automatic() ? "not known: give --dtype" : model.dtype.name);
  if (model.precision_count != 0) line("weights stored in", dtype_text(model));
  line("hidden size", detail::grouped(model.hidden_size));
  if (model.vocab_size != 0) {
    line("vocabulary",
         detail::grouped(model.vocab_size) + (model.tie_word_embeddings ? ", tied to the head" : ""));
  }
  if (model.max_position_embeddings != 0)
    line("trained positions", detail::grouped(model.max_position_embeddings));
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    line(kind == 0 ? "layers" : "", fmt::format("{} x {} query heads, keeping {}", model.layers_of[kind],
                                                layer.num_attention_heads, report::stores_text(layer)));
  }
  const ratio near = token_growth(model, at_start);
  const ratio far = token_growth(model, trained_end(model));
  line("16-bit KV per token",
       near == far
           ? fmt::format("{} B", near)
           : fmt::format("{} B at the start of a context, {} B at the end of the trained one", near, far));
  line("also called", fmt::format("{}", fmt::join(names_of(model), ", ")));
}

/// What `models` was asked for.
struct options {
  std::string filter;
  std::optional<std::string> type, least, most;
  bool experts = false;
  bool dense = false;
  output_options output;

  [[nodiscard]] bool narrow_down() const { return type || least || most || experts || dense; }
};

/// Whether every word of the filter is part of one of the model's names or of its type.
bool mentions(const model_architecture& model, const std::string& filter) {
  std::string text = model.model_type;
  for (const std::string& name : names_of(model)) text += '\n' + name;
  std::transform(text.begin(), text.end(), text.begin(), detail::lower_case);
  const char* rest = filter.c_str();
  const char* word = nullptr;
  std::size_t length = 0;
  while (detail::next_word(rest, word, length)) {
    std::string wanted(word, length);
    std::transform(wanted.begin(), wanted.end(), wanted.begin(), detail::lower_case);
    if (text.find(wanted) == std::string::npos) return false;
  }
  return true;
}

/// The models that a text means: the one of that name, else those whose names hold every word or begin so,
/// else those that mention every word anywhere.
std::vector<const model_architecture*> matching(const std::string& filter) {
  if (filter.empty()) return {std::begin(models::all), std::end(models::all)};
  if (const model_architecture* found = models::find(filter.c_str())) return {found};
  std::vector<const model_architecture*> list;
  std::vector<const model_architecture*> loose;
  const detail::name_key key = detail::key_of(filter.c_str());
  for (const model_architecture* model : models::all) {
    if (detail::starts_with(detail::key_of(model->name), key) ||
        detail::every_word_is_in(filter.c_str(), model->name, model->model_type)) {
      list.push_back(model);
    }
    if (key.length != 0 && mentions(*model, filter)) loose.push_back(model);
  }
  if (list.empty()) list = std::move(loose);
  if (list.empty()) throw command_error(unknown_model(filter));
  return list;
}

/// Drops the models that the options exclude.
void narrow_down(std::vector<const model_architecture*>& list, const options& given) {
  if (given.experts && given.dense) refuse("only one of --moe and --dense");
  const auto keep = [&list](const auto& wanted) {
    std::erase_if(list, [&](const model_architecture* model) { return !wanted(*model); });
  };
  if (given.type) {
    std::set<std::string> types;
    for (const model_architecture* model : models::all) types.insert(model->model_type);
    types.erase("");
    if (!types.contains(*given.type)) {
      refuse("--type: no model of the catalogue is of type \"{}\", there are {}",
             detail::printable(*given.type, 40), fmt::join(types, ", "));
    }
    keep([&](const model_architecture& model) { return model.model_type == *given.type; });
  }
  const auto count_in = [](const char* option, const std::string& typed) {
    return for_option(option, [&] { return parse_parameters(typed); });
  };
  if (given.least) {
    const parameters least = count_in("--min-parameters", *given.least);
    keep([&](const model_architecture& model) { return parameter_count(model) >= least; });
  }
  if (given.most) {
    const parameters most = count_in("--max-parameters", *given.most);
    keep([&](const model_architecture& model) { return parameter_count(model) <= most; });
  }
  if (given.experts || given.dense) {
    keep([&](const model_architecture& model) {
      return report::is_mixture_of_experts(model) == given.experts;
    });
  }
}

}  // namespace

action add_models(CLI::App& app) {
  CLI::App* command = app.add_subcommand("models", "the models of the catalogue; one of them in full");
  const auto given = std::make_shared<options>();
  command->add_option("FILTER", given->filter,
                      "a name or the words of one: llama-3.1-70b, qwen3, \"llama 70b\", google");
  command->add_option("--type", given->type, "only those with this Hugging Face model_type")
      ->type_name("MODEL_TYPE");
  command
      ->add_option("--min-parameters", given->least, "only those with so many parameters or more: 8B, 135M")
      ->type_name("N");
  command->add_option("--max-parameters", given->most, "only those with so many parameters or fewer")
      ->type_name("N");
  command->add_flag("--moe", given->experts, "only mixtures of experts");
  command->add_flag("--dense", given->dense, "only models that are none");
  given->output.add_json(*command);
  return [given] {
    std::vector<const model_architecture*> list = matching(given->filter);
    narrow_down(list, *given);
    if (given->output.kind() == output_kind::json) {
      ordered_json all = ordered_json::array();
      for (const model_architecture* model : list) all.push_back(model_details(*model));
      print_json(all);
    } else if (list.size() == 1 && !given->narrow_down()) {
      print_one(*list.front());
    } else {
      print_list(list);
    }
    return 0;
  };
}

}  // namespace cli
