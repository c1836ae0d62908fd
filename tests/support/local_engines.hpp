#pragma once

// Printed figures of local engines (tests/corpus/local-engines.json, described in tests/corpus/README.md),
// and what the library says to them.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kvbudget/engine/llama_cpp/cache.hpp"
#include "kvbudget/engine/llama_cpp/ik_llama_cpp.hpp"
#include "kvbudget/engine/llama_cpp/lm_studio.hpp"
#include "kvbudget/engine/llama_cpp/ollama.hpp"
#include "support/corpus.hpp"
#include "support/llama_cpp_runs.hpp"

namespace tests::local_engines {

using namespace kvbudget;
using corpus::printed_bytes;
using llama_cpp_cache::backend;

/// Ollama's own estimator of before November 2025.
struct ollama_estimator {
  engines::ollama asked;
};
using any_engine = std::variant<engines::llama_cpp, engines::ik_llama_cpp, engines::ollama, ollama_estimator,
                                engines::lm_studio>;

/// One run: what was started with what, and what it printed. Figures are `<part>.<name>`: `full.size`,
/// `full.K`, …
struct printed_run {
  std::string id, source;
  any_engine engine;
  std::shared_ptr<const model_architecture> model;
  std::map<std::string, printed_bytes> sizes;
  std::map<std::string, std::uint64_t> counts;
};

// ---- what the library says -------------------------------------------------------------------------------

using figures = std::map<std::string, std::uint64_t>;

inline void add_part(figures& to, const std::string& part, std::uint64_t size, std::uint64_t keys,
                     std::uint64_t values) {
  to[part + ".size"] = size;
  to[part + ".K"] = keys;
  to[part + ".V"] = values;
}
inline void add_cells(figures& to, const model_architecture& model, const llama_cpp_cache::sizes& found) {
  to["cells.full"] = found.n_ctx_seq;
  for (std::size_t i = 0; i < model.kind_count; ++i) {
    const store& kept = model.kinds[i].stores[0];
    if (kept.window != 0) to["cells.windowed"] = found.window_cells(kept.window);
  }
}
/// Convolutions (R) and states (S) in fp32.
inline void add_states(figures& to, const model_architecture& model, std::uint64_t rows, std::uint64_t size) {
  std::uint64_t convolutions = 0;
  for (std::size_t i = 0; i < model.kind_count; ++i) {
    const store& kept = model.kinds[i].stores[0];
    if (kept.kind == store_kind::recurrent)
      convolutions += 4 * state_of(kept).convolution * model.layers_of[i];
  }
  to["recurrent.size"] = size;
  to["recurrent.R"] = convolutions * rows;
  to["recurrent.S"] = size - convolutions * rows;
}

inline figures figures_of(const engines::llama_cpp& asked, const model_architecture& model) {
  using llama_cpp_cache::cache_bytes;
  const llama_cpp_cache::sizes found = llama_cpp_cache::sizes_of(asked, model);
  const auto kept = [&](const engines::llama_cpp& with, backend in) {
    return llama_cpp_cache::cache_of(with, model, found, in);
  };
  const cache_bytes all = kept(asked, backend::cpu);
  // Values alone: what fp32 takes more than fp16 is their size in fp16.
  engines::llama_cpp single = asked, half = asked;
  single.type_v = llama_cpp_cache_type::f32;
  half.type_v = llama_cpp_cache_type::f16;
  const cache_bytes in_single = kept(single, backend::cpu), in_half = kept(half, backend::cpu);
  figures to;
  const auto add = [&](const char* part, std::uint64_t cache_bytes::*member) {
    const std::uint64_t elements = (in_single.*member - in_half.*member) / 2;
    const std::uint64_t values = format_of(asked.type_v).size_of(elements).value;
    add_part(to, part, all.*member, all.*member - values, values);
  };
  add("full", &cache_bytes::full);
  add("windowed", &cache_bytes::windowed);
  add("index", &cache_bytes::index);
  to["compressed.size"] = all.compressed;
  add_part(to, "attention", all.attention(), to["full.K"] + to["windowed.K"],
           to["full.V"] + to["windowed.V"]);
  add_states(to, model, found.state_rows(), all.recurrent);
  add_cells(to, model, found);
  to["cells.total"] = found.n_ctx;
  to["buffer.cuda"] = kept(asked, backend::cuda).attention();
  to["buffer.cpu"] = all.attention();
  return to;
}

inline figures figures_of(const engines::ik_llama_cpp& asked, const model_architecture& model) {
  const ik_llama_cpp_cache::cache_bytes all = ik_llama_cpp_cache::printed_of(asked, model);
  const llama_cpp_cache::sizes found = ik_llama_cpp_cache::sizes_of(asked, model);
  figures to;
  add_part(to, "attention", all.kept.attention(), all.keys, all.values);
  to["full.size"] = all.kept.full;
  to["windowed.size"] = all.kept.windowed;
  add_states(to, model, found.n_seq_max, all.kept.recurrent);
  add_cells(to, model, found);
  to["buffer.cuda"] = ik_llama_cpp_cache::cache_of(asked, model, backend::cuda).total().value;
  to["buffer.cpu"] = ik_llama_cpp_cache::cache_of(asked, model, backend::cpu).total().value;
  return to;
}
inline figures figures_of(const engines::ollama& asked, const model_architecture& model) {
  return figures_of(ollama_rules::settings_of(asked, model, bytes{0}, {}), model);
}
inline figures figures_of(const engines::lm_studio& asked, const model_architecture& model) {
  return figures_of(lm_studio_rules::settings_of(asked, model), model);
}
inline figures figures_of(const ollama_estimator& by, const model_architecture& model) {
  const ollama_rules::historic_estimate found = ollama_rules::old_estimate(by.asked, model);
  if (found.unknown) return {};
  return {{"estimate.kv", found.kv},
          {"estimate.graph_full", found.graph_full},
          {"estimate.graph_partial", found.graph_partial}};
}
inline figures figures_of(const printed_run& run) {
  return std::visit([&](const auto& engine) { return figures_of(engine, *run.model); }, run.engine);
}

// ---- the file --------------------------------------------------------------------------------------------

/// Like llama.cpp's types (`llama_cpp::cache_type_named`), with those of the fork.
[[nodiscard]] inline ik_llama_cpp_cache_type ik_cache_type_named(const std::string& name) {
  if (name == "q6_0") return ik_llama_cpp_cache_type::q6_0;
  if (name == "q8_KV") return ik_llama_cpp_cache_type::q8_kv;
  return static_cast<ik_llama_cpp_cache_type>(llama_cpp::cache_type_named(name));
}
static_assert(static_cast<int>(ik_llama_cpp_cache_type::q5_1) ==
              static_cast<int>(llama_cpp_cache_type::q5_1));

/// Settings of one run, member by member; refuses what no engine read.
class settings_reader {
 public:
  explicit settings_reader(const json_field& from) : from_(from) {}
  void read(const char* name, std::uint64_t& into) {
    if (const auto field = named(name)) into = field->integer();
  }
  void read(const char* name, std::uint32_t& into) {
    if (const auto field = named(name)) into = static_cast<std::uint32_t>(field->integer());
  }
  void read(const char* name, bool& into) {
    if (const auto field = named(name)) into = field->flag();
  }
  void read(const char* name, option_choice& into) {
    if (const auto field = named(name)) into = field->flag() ? option_choice::yes : option_choice::no;
  }
  void read(const char* name, llama_cpp_flash_attn& into) {
    const auto field = named(name);
    if (!field) return;
    if (field->text() == "on") {
      into = llama_cpp_flash_attn::on;
    } else if (field->text() == "off") {
      into = llama_cpp_flash_attn::off;
    } else if (field->text() != "auto") {
      field->refuse("must be on, off or auto");
    }
  }
  void read(const char* name, llama_cpp_cache_type& into) {
    into = llama_cpp_cache_type::f16;
    if (const auto field = named(name)) into = known(*field, llama_cpp::cache_type_named);
  }
  void read(const char* name, ik_llama_cpp_cache_type& into) {
    if (const auto field = named(name)) into = known(*field, ik_cache_type_named);
  }
  void finish() const {
    for (const auto& [name, value] : from_.as_object().value().items()) {
      if (seen_.count(name) == 0) from_.at(std::string_view(name)).refuse("is no setting of this engine");
    }
  }

 private:
  std::optional<json_field> named(const char* name) {
    seen_[name] = true;
    return from_.find(name);
  }
  template <class Type> static Type known(const json_field& field, Type (*lookup)(const std::string&)) {
    try {
      return lookup(field.text());
    } catch (const std::runtime_error&) {
      field.refuse("is no cache type of this engine");
    }
  }
  json_field from_;
  std::map<std::string, bool> seen_;
};

inline void read_ollama(settings_reader& given, engines::ollama& engine) {
  given.read("num_ctx", engine.num_ctx);
  given.read("num_parallel", engine.num_parallel);
  given.read("num_batch", engine.num_batch);
  given.read("kv_cache_type", engine.kv_cache_type);
  given.read("flash_attention", engine.flash_attention);
}
inline any_engine read_engine(const json_field& root) {
  const std::string& name = root.required_text("engine");
  settings_reader given(root.at("settings"));
  any_engine read;
  if (name == "llama.cpp") {
    engines::llama_cpp engine;
    engine.program = llama_cpp_program::library;
    given.read("build", engine.build);
    given.read("n_ctx", engine.n_ctx);
    given.read("n_batch", engine.n_batch);
    given.read("n_ubatch", engine.n_ubatch);
    given.read("n_parallel", engine.n_parallel);
    given.read("kv_unified", engine.kv_unified);
    given.read("n_rs_seq", engine.n_rs_seq);
    given.read("type_k", engine.type_k);
    given.read("type_v", engine.type_v);
    given.read("flash_attn", engine.flash_attn);
    given.read("swa_full", engine.swa_full);
    read = engine;
  } else if (name == "ik_llama.cpp") {
    engines::ik_llama_cpp engine;
    given.read("n_ctx", engine.n_ctx);
    given.read("n_batch", engine.n_batch);
    given.read("n_ubatch", engine.n_ubatch);
    given.read("n_parallel", engine.n_parallel);
    given.read("type_k", engine.type_k);
    given.read("type_v", engine.type_v);
    given.read("flash_attn", engine.flash_attn);
    given.read("mla", engine.mla);
    given.read("swa_compress", engine.swa_compress);
    read = engine;
  } else if (name == "ollama") {
    engines::ollama engine;
    read_ollama(given, engine);
    read = engine;
  } else if (name == "ollama-estimator") {
    ollama_estimator engine;
    read_ollama(given, engine.asked);
    read = engine;
  } else if (name == "lm-studio") {
    engines::lm_studio engine;
    given.read("context_length", engine.context_length);
    given.read("max_parallel_predictions", engine.max_parallel_predictions);
    given.read("use_unified_kv_cache", engine.use_unified_kv_cache);
    given.read("eval_batch_size", engine.eval_batch_size);
    given.read("flash_attention", engine.flash_attention);
    given.read("k_cache_quantization_type", engine.k_cache_quantization_type);
    given.read("v_cache_quantization_type", engine.v_cache_quantization_type);
    read = engine;
  } else {
    root.at("engine").refuse("must be llama.cpp, ik_llama.cpp, ollama, ollama-estimator or lm-studio");
  }
  given.finish();
  return read;
}

/// Layers written out, for models that are not in the catalogue.
inline std::shared_ptr<const model_architecture> read_layers(const json_field& field) {
  const auto model = std::make_shared<model_architecture>();
  for (std::size_t i = 0; i < field.size(); ++i) {
    const json_field each = field.at(i);
    each.allow_only({"count", "kv_heads", "key_dim", "value_dim", "window", "indexer_dim"});
    const auto number = [&](const char* name) {
      const std::uint64_t found = each.optional_integer(name).value_or(0);
      if (found > (1u << 20)) each.refuse("has a number that is too large");
      return static_cast<std::uint32_t>(found);
    };
    store kept = stores::full(number("kv_heads"), number("key_dim"), number("value_dim"));
    if (number("window") != 0) kept = stores::sliding_window(kept, number("window"));
    if (number("indexer_dim") != 0) kept = stores::indexed(kept, number("indexer_dim"));
    layer_kind layer;
    layer.num_attention_heads = kept.kv_heads;
    layer.add(kept);
    model->add_layers(layer, number("count"));
  }
  return model;
}

inline printed_bytes printed_in(const json_field& field) {
  const std::string& text = field.text();
  const std::size_t blank = text.find(' ');
  const std::optional<double> unit =
      blank == text.npos ? std::nullopt : corpus::detail::bytes_of_unit(text.substr(blank + 1));
  if (!unit) field.refuse("must end in B, MiB or GiB");
  const corpus::detail::decimal number =
      corpus::detail::decimal_in(field, std::string_view(text).substr(0, blank));
  return {std::llround(number.value * *unit),
          static_cast<std::uint64_t>(std::llround(number.half_digit * *unit)), false};
}
inline printed_run read_run(const json_field& root, const std::filesystem::path& directory) {
  root.allow_only({"id", "engine", "source", "model", "layers", "settings", "figures", "notes"});
  printed_run run;
  run.id = root.required_text("id");
  run.source = root.required_text("source");
  if (run.source.find('/') == std::string::npos || run.source.find_first_of("#:") == std::string::npos) {
    root.at("source").refuse("must be owner/repository#number, or owner/repository: what");
  }
  run.engine = read_engine(root);
  const std::optional<json_field> layers = root.find("layers");
  run.model = layers ? read_layers(*layers) : corpus::detail::read_model(root, directory);
  const json_field parts = root.at("figures");
  for (const auto& [part, members] : parts.as_object().value().items()) {
    const json_field of_part = parts.at(std::string_view(part));
    for (const auto& [name, value] : of_part.as_object().value().items()) {
      const json_field figure = of_part.at(std::string_view(name));
      const std::string key = part + "." + name;
      if (value.is_number()) {
        run.counts[key] = figure.positive_integer();
      } else {
        run.sizes[key] = printed_in(figure);
      }
    }
  }
  return run;
}

/// The runs of a file, in its order; whatever does not fit the schema throws `input_error`.
[[nodiscard]] inline std::vector<printed_run> load(const std::filesystem::path& file) {
  const json_document document = load_json(file, {.bytes = std::uint64_t{1} << 20, .depth = 8});
  const json_field root(document);
  std::vector<printed_run> runs;
  for (std::size_t i = 0; i < root.size(); ++i) runs.push_back(read_run(root.at(i), file.parent_path()));
  return runs;
}

/// Whether a figure is the printed one, give or take half of its last digit.
[[nodiscard]] inline bool agrees(std::uint64_t found, const printed_bytes& printed) {
  const std::int64_t off = static_cast<std::int64_t>(found) - printed.bytes;
  return (off < 0 ? -off : off) <= static_cast<std::int64_t>(printed.rounding_bytes) + 1;
}

}  // namespace tests::local_engines
