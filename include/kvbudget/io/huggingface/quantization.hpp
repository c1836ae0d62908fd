#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/format/formats.hpp"
#include "kvbudget/format/weight_scheme.hpp"
#include "kvbudget/io/huggingface/module_names.hpp"
#include "kvbudget/io/huggingface/quantized_storage.hpp"
#include "kvbudget/io/json_reader.hpp"
#include "kvbudget/model/weight_group.hpp"

namespace kvbudget::inline v0 {

/// How a checkpoint stores its weights: what `quantization_config` of a config.json, or ModelOpt's
/// hf_quant_config.json, says about each module.
///
/// `scheme_for` answers for one linear layer by its full name in the checkpoint. What a config does not say
/// and its method implies (which modules stay in the dtype, how wide scales are) is in `notes`. A method,
/// algorithm or parameter that is not known stops with `input_error`, which names it and what is known:
/// nothing is counted as 0 bytes.
///
/// Sources of the rules: quantizers/quantizers_utils.py and utils/quantization_config.py of
/// huggingface/transformers (lists of modules); model_executor/layers/quantization of vllm-project/vllm
/// (fp8.py, modelopt.py, awq.py, utils/gptq_utils.py, compressed_tensors/utils.py); the writers named at
/// `schemes`.
class checkpoint_quantization {
 public:
  /// What else of a config decides how weights are stored.
  struct context {
    std::string model_type;
    std::string expert_dtype;          ///< DeepSeek-V4: "fp4" or "fp8"; empty = not given
    bool only_language_model = false;  ///< the quantization stands in the language model's own config
  };

  /// Reads a `quantization_config`, a `compression_config`, or a whole hf_quant_config.json.
  checkpoint_quantization(const json_field& quantization, const context& model) : context_(model) {
    quantization.as_object();
    read(quantization);
    note_named_layers(quantization.value());
  }
  explicit checkpoint_quantization(const json_field& quantization)
      : checkpoint_quantization(quantization, context{}) {}

  /// The quantization that a whole config.json names, at its top or in the config of its language model; none
  /// if it names none.
  [[nodiscard]] static std::optional<checkpoint_quantization> of_config(const json_field& config) {
    context model;
    model.model_type = detail::text_in(config, "model_type");
    model.expert_dtype = detail::text_in(config, "expert_dtype");
    std::vector<json_field> places{config};
    for (const char* nested : {"text_config", "llm_config", "language_config"}) {
      const std::optional<json_field> inner = detail::given(config, nested);
      if (inner && inner->value().is_object()) places.push_back(*inner);
    }
    for (const json_field& place : places) {
      model.only_language_model = &place != &places.front();
      for (const char* key : {"quantization_config", "compression_config", "quantization"}) {
        const std::optional<json_field> found = detail::given(place, key);
        const bool is_mlx = std::string_view(key) == "quantization";
        if (found && is_mlx && !(found->value().is_object() && detail::given(*found, "bits"))) continue;
        if (found) return checkpoint_quantization(*found, model);
      }
    }
    return std::nullopt;
  }

  /// How the weight of `module` is stored; nullopt = in the model's dtype. Ask for linear layers; for an
  /// embedding give `tensor_kind::table` (few methods quantize those, and none by a rule for linear layers).
  /// Experts may be named one by one ("….experts.0.up_proj") or together ("….experts.gate_up_proj"), as the
  /// checkpoint does. Rules that contradict each other for this module throw `input_error`.
  [[nodiscard]] std::optional<weight_scheme> scheme_for(std::string_view module,
                                                        tensor_kind kind = tensor_kind::linear) const {
    if (kind != tensor_kind::linear && kind != tensor_kind::table) return std::nullopt;
    const detail::module_name name(module);
    if (left_alone_.matches(name)) return std::nullopt;
    if (const storage* own = named_storage(name)) return own->scheme;
    if (kind == tensor_kind::table) {
      const storage* own = rules_cover_tables_ ? matched_storage(name) : nullptr;
      return own != nullptr ? own->scheme : tables_;
    }
    if (only_experts_ && !name.is_expert()) return std::nullopt;
    if (spares_routers_ && name.is_router()) return std::nullopt;
    if (spares_towers_ && name.is_tower()) return std::nullopt;
    if (only_layers_ && !name.in_layer()) return std::nullopt;
    if (spares_heads_ && name.is_head()) return std::nullopt;
    if (spared_parts_.matches(name)) return std::nullopt;
    if (only_these_ && !only_these_->matches(name)) return std::nullopt;
    if (const storage* own = matched_storage(name)) return own->scheme;
    if (experts_ && name.is_expert()) return experts_;
    return linear_;
  }

  /// A number that is the same for layers of which lists say the same: two layers of the same shape and the
  /// same number are stored alike.
  [[nodiscard]] std::uint64_t signature_of_layer(std::uint32_t layer) const {
    if (!layers_are_named_singly_) return layer;
    const auto found = named_layers_.find(layer);
    return found == named_layers_.end() ? 0 : found->second;
  }
  /// `quant_method`, or what stands for it ("modelopt" for a hf_quant_config.json).
  [[nodiscard]] const std::string& method() const { return method_; }
  /// One line for each thing that was assumed, or read and not counted.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// Those of the notes that say which figures cannot be trusted.
  [[nodiscard]] const std::vector<std::string>& doubts() const { return doubts_; }
  /// The KV cache format that the checkpoint has scales for ("fp8_e4m3", "int8", "nvfp4"); engines use it
  /// only where they are told to, or by default.
  [[nodiscard]] const std::optional<std::string>& kv_cache_format() const { return kv_cache_format_; }

 private:
  /// Names of modules stand in lists, and as keys (with a dot or a pattern in them).
  void note_named_layers(const nlohmann::json& value) {
    for (const auto& [key, member] : value.items()) {
      if (value.is_object() && key.find_first_of(".*:") != std::string::npos) note_named_layer(key, member);
      if (value.is_array() && member.is_string()) note_named_layer(member.get_ref<const std::string&>(), {});
      if (member.is_structured()) note_named_layers(member);
    }
  }
  /// A name with the number of one layer in it says the same about each layer that it is listed for.
  void note_named_layer(const std::string& name, const nlohmann::json& said) {
    constexpr const char* digits = "0123456789";
    if (name.find_first_of(digits) == std::string::npos) return;
    std::size_t first = std::string::npos;
    for (std::size_t at = 0; at < name.size();) {
      const std::size_t dot = std::min(name.find('.', at), name.size());
      const std::string_view part = std::string_view(name).substr(at, dot - at);
      const std::size_t other = part.find_first_not_of(digits);
      if (!part.empty() && other == part.npos && part.size() < 7) {
        first = at;
        break;
      }
      if (other != part.npos && part.find_first_of("*?[({+\\|") != part.npos &&
          part.find_first_of(digits) != part.npos) {
        break;  // a pattern over numbers
      }
      at = dot + 1;
    }
    const bool is_plain = name.compare(0, 3, "re:") != 0 && name.find_first_of("[](){}^$|\\+") == name.npos;
    if (first == std::string::npos || !is_plain) {
      layers_are_named_singly_ = false;
      return;
    }
    const std::size_t end = std::min(name.find('.', first), name.size());
    const auto layer = static_cast<std::uint32_t>(std::stoul(name.substr(first, end - first)));
    const std::string rest = name.substr(0, first) + "#" + name.substr(end) + "\n" + said.dump();
    named_layers_[layer] += std::hash<std::string>{}(rest) | 1u;
  }

  /// The way some modules are stored; no scheme = in the dtype.
  struct storage {
    std::optional<weight_scheme> scheme;
  };
  struct rule {
    detail::name_list names;
    storage stored;
    std::string title;
  };

  void note(std::string line) {
    for (const std::string& known : notes_) {
      if (known == line) return;
    }
    notes_.push_back(std::move(line));
  }
  void doubt(std::string line) {
    doubts_.push_back(line);
    note(std::move(line));
  }

  // -- which module a rule is about -------------------------------------------------------------------------

  /// The storage that the file gives to this very module by its name, or to what it is part of.
  [[nodiscard]] const storage* named_storage(const detail::module_name& name) const {
    if (by_name_.empty()) return nullptr;
    for (const std::string& spelling : name.spellings()) {
      std::string_view prefix = spelling;
      while (true) {
        if (const auto found = by_name_.find(prefix); found != by_name_.end())
          return &storages_[found->second];
        const std::size_t dot = prefix.rfind('.');
        if (dot == prefix.npos) break;
        prefix = prefix.substr(0, dot);
      }
    }
    return nullptr;
  }
  /// The storage of the rules whose patterns match; they must agree, since JSON objects have no order.
  [[nodiscard]] const storage* matched_storage(const detail::module_name& name) const {
    const rule* first = nullptr;
    for (const rule& each : rules_) {
      if (!each.names.matches(name)) continue;
      if (first == nullptr) first = &each;
      if (!(first->stored.scheme == each.stored.scheme)) {
        detail::refuse_input(place_ + ": \"" + first->title + "\" and \"" + each.title +
                             "\" contradict each other for " + detail::printable(name.full(), 80));
      }
    }
    return first == nullptr ? nullptr : &first->stored;
  }

  void leave_alone(const json_field& object, std::initializer_list<const char*> keys,
                   detail::name_syntax syntax) {
    for (const char* key : keys) {
      if (const std::optional<json_field> list = detail::given(object, key))
        left_alone_.add_all(*list, syntax);
    }
  }
  /// Modules that stay in the dtype whatever the file says, because engines and writers leave them.
  void spare_parts(std::initializer_list<const char*> parts, const json_field& place) {
    for (const char* part : parts) spared_parts_.add(part, detail::name_syntax::parts, place);
  }
  void add_rule(std::string_view names, detail::name_syntax syntax, std::optional<weight_scheme> scheme,
                const json_field& place) {
    rule added;
    added.names.add(names, syntax, place);
    added.stored.scheme = std::move(scheme);
    added.title = detail::printable(names, 60);
    if (rules_.size() >= most_rules)
      place.refuse("is one of more than " + std::to_string(most_rules) + " rules by pattern");
    shortened_ = shortened_ || added.names.was_shortened();
    rules_.push_back(std::move(added));
  }

  // -- the methods ------------------------------------------------------------------------------------------

  void read(const json_field& q) {
    place_ = q.source() + (q.path().empty() ? "" : ": " + q.path());
    if (const std::optional<json_field> inner = detail::given(q, "quantization");
        inner && inner->value().is_object() && !detail::given(q, "quant_method")) {
      method_ = "modelopt";
      read_modelopt(*inner);
    } else {
      read_method(q);
    }
    read_kv_cache(q);
    spares_towers_ = spares_towers_ || context_.only_language_model;
    if (left_alone_.was_shortened() || shortened_)
      note("lists of modules are shortened: {n} in them is read as any number");
    if (left_alone_.lost_layers())
      doubt(
          "lists of modules are shortened and do not say which whole layers are left alone: they are counted "
          "as quantized");
    if (spares_routers_) note("routers are not quantized, whether they are listed or not");
  }

  void read_method(const json_field& q) {
    const std::optional<json_field> named = detail::given(q, "quant_method");
    const std::string method = named ? detail::lower(named->text()) : unnamed_method(q);
    method_ = detail::printable(method, 40);
    using reader = void (checkpoint_quantization::*)(const json_field&);
    static constexpr struct {
      const char* name;
      reader read;
    } known[] = {{"fp8", &checkpoint_quantization::read_fp8},
                 {"fbgemm_fp8", &checkpoint_quantization::read_fbgemm},
                 {"compressed-tensors", &checkpoint_quantization::read_compressed_tensors},
                 {"awq", &checkpoint_quantization::read_awq},
                 {"gptq", &checkpoint_quantization::read_gptq},
                 {"auto-round", &checkpoint_quantization::read_auto_round},
                 {"bitsandbytes", &checkpoint_quantization::read_bitsandbytes},
                 {"mxfp4", &checkpoint_quantization::read_mxfp4},
                 {"modelopt", &checkpoint_quantization::read_modelopt},
                 {"hqq", &checkpoint_quantization::read_hqq},
                 {"torchao", &checkpoint_quantization::read_torchao},
                 {"quanto", &checkpoint_quantization::read_quanto},
                 {"eetq", &checkpoint_quantization::read_eetq},
                 {"quark", &checkpoint_quantization::read_quark},
                 {"bitnet", &checkpoint_quantization::read_bitnet},
                 {"mlx", &checkpoint_quantization::read_mlx}};
    static constexpr const char* synonyms[][2] = {{"compressed_tensors", "compressed-tensors"},
                                                  {"modelopt_fp4", "modelopt"},
                                                  {"modelopt_fp8", "modelopt"},
                                                  {"modelopt_mixed", "modelopt"},
                                                  {"modelopt_mxfp8", "modelopt"},
                                                  {"bitsandbytes_4bit", "bitsandbytes"},
                                                  {"bitsandbytes_8bit", "bitsandbytes"},
                                                  {"gptq_marlin", "gptq"},
                                                  {"awq_marlin", "awq"},
                                                  {"intel/auto-round", "auto-round"},
                                                  {"auto_round", "auto-round"}};
    std::string_view name = method;
    for (const auto& synonym : synonyms) {
      if (name == synonym[0]) name = synonym[1];
    }
    for (const auto& entry : known) {
      if (name == entry.name) return (this->*entry.read)(q);
    }
    if (name == "exl2" || name == "exl3") {
      named->refuse("method \"" + method_ +
                    "\" gives every layer bits of its own, which this file does not hold: read the weights "
                    "from the safetensors headers");
    }
    std::string line = "method \"" + method_ + "\" is not supported, expected one of";
    for (const auto& entry : known) line.append(" ").append(entry.name);
    (named ? *named : q).refuse(line);
  }

  /// Old files have no `quant_method`.
  [[nodiscard]] static std::string unnamed_method(const json_field& q) {
    if (detail::given(q, "config_groups")) return "compressed-tensors";
    if (detail::given(q, "quant_algo")) return "modelopt";
    if (detail::given(q, {"desc_act", "damp_percent"})) return "gptq";
    if (detail::given(q, "w_bit")) return "awq";
    if (detail::given(q, "bits") && detail::given(q, "group_size")) return "mlx";
    if (detail::given(q, {"load_in_4bit", "load_in_8bit", "_load_in_4bit", "_load_in_8bit"}))
      return "bitsandbytes";
    q.refuse("key \"quant_method\" is missing: how the weights are stored cannot be told");
  }

  /// FP8: per matrix, or in blocks (`weight_block_size`) whose scales are fp32; DeepSeek-V4 checkpoints with
  /// FP4 experts have one-byte scales throughout.
  void read_fp8(const json_field& q) {
    (void)detail::one_of(q, "fmt", "e4m3", {"e4m3", "e5m2", "float8_e4m3fn", "float8_e5m2"});
    const bool static_inputs =
        detail::one_of(q, "activation_scheme", "dynamic", {"dynamic", "static"}) == "static";
    const bool one_byte_scales = read_expert_dtype(q);
    if (const std::optional<json_field> shape = detail::given(q, "weight_block_size")) {
      linear_ = detail::fp8_blocks(*shape, one_byte_scales ? std::uint8_t{1} : std::uint8_t{4});
    } else {
      linear_ =
          detail::with_matrix_bytes(schemes::fp8_linear, static_inputs ? std::uint8_t{4} : std::uint8_t{0});
      if (static_inputs) note("one fp32 scale per matrix and one for its input");
    }
    if (detail::given(q, "quantized_layers")) {
      read_quantized_layers(q);  // its `ignore` is about these layers, the rest stays FP8
    } else {
      leave_alone(q, {"ignore"}, detail::name_syntax::wildcards);
    }
    leave_alone(q, {"modules_to_not_convert", "ignored_layers"}, detail::name_syntax::parts);
    spares_routers_ = spares_towers_ = spares_heads_ = true;
    spare_parts({"eh_proj", "weights_proj", "compressor"}, q);
    note(
        "FP8: the head, towers, and of DeepSeek's layers eh_proj, weights_proj and compressors are not "
        "quantized, whether they are listed or not");
  }
  /// Whether experts are FP4 and scales take one byte.
  bool read_expert_dtype(const json_field& q) {
    const std::optional<json_field> own = detail::given(q, "expert_dtype");
    std::string dtype = detail::lower(own ? own->text() : context_.expert_dtype);
    const bool is_v4 = context_.model_type.compare(0, 11, "deepseek_v4") == 0;
    if (dtype.empty() && is_v4) {
      dtype = "fp4";
      note("expert_dtype is absent: assumed to be fp4, the default of deepseek_v4");
    }
    if (dtype.empty() || dtype == "fp8") return false;
    if (dtype != "fp4")
      q.refuse("expert_dtype \"" + detail::printable(dtype, 40) + "\" is not supported, expected fp4 or fp8");
    experts_ = schemes::mxfp4;
    return true;
  }

  void read_fbgemm(const json_field& q) {
    linear_ = detail::scaled("fp8_row", formats::fp8_e4m3, 0, 4);
    leave_alone(q, {"modules_to_not_convert"}, detail::name_syntax::parts);
    spares_routers_ = spares_heads_ = true;
  }

  // compressed-tensors

  void read_compressed_tensors(const json_field& outer) {
    // Some writers put the whole of it one level deeper.
    const std::optional<json_field> inner = detail::given(outer, "quantization_config");
    const json_field& q = inner ? *inner : outer;
    if (const std::optional<json_field> sparsity = detail::given(q, "sparsity_config")) {
      if (!sparsity->as_object().value().empty())
        (void)detail::one_of(*sparsity, "format", "dense", {"dense"});
    }
    leave_alone(q, {"ignore"}, detail::name_syntax::tagged);
    spares_routers_ = rules_cover_tables_ = true;
    const std::string format = detail::text_in(q, "format");
    const json_field groups = q.at("config_groups").as_object();
    for (const auto& [key, unused] : groups.value().items()) read_config_group(groups.at(key), format);
  }

  void read_config_group(const json_field& group, const std::string& outer_format) {
    group.as_object();
    const std::optional<json_field> weights = detail::given(group, "weights");
    if (!weights) {
      note(group.path() + ": quantizes no weights");
      return;
    }
    const std::string own_format = detail::text_in(group, "format");
    const std::string format = detail::lower(own_format.empty() ? outer_format : own_format);
    const std::optional<weight_scheme> scheme =
        config_group_scheme(weights->as_object(), format, detail::given(group, "input_activations"));
    const json_field targets = group.at("targets");
    for (std::size_t i = 0, size = targets.size(); i < size; ++i) {
      const json_field target = targets.at(i);
      const std::string& name = target.text();
      const bool is_class = !name.empty() && name[0] >= 'A' && name[0] <= 'Z';
      if (!is_class) {
        name_module(name, scheme, target);
      } else if (name.find("Linear") != name.npos) {
        give_class(linear_, scheme, target);
      } else if (name.find("Embedding") != name.npos) {
        give_class(tables_, scheme, target);
      } else {
        target.refuse("modules of class \"" + detail::printable(name, 40) +
                      "\" are not known to have weights, expected Linear, Embedding or names of modules");
      }
    }
  }
  /// A rule for one target that is a name, or an expression after "re:".
  void name_module(const std::string& name, const std::optional<weight_scheme>& scheme,
                   const json_field& place) {
    const bool plain =
        name.compare(0, 3, "re:") != 0 && name.find(detail::name_pattern::any_number) == name.npos;
    if (!plain) return add_rule(name, detail::name_syntax::tagged, scheme, place);
    give_name(name, scheme);
  }
  void give_name(const std::string& name, const std::optional<weight_scheme>& scheme) {
    std::size_t at = 0;
    while (at < storages_.size() && !(storages_[at].scheme == scheme)) ++at;
    if (at == storages_.size()) storages_.push_back({scheme});
    by_name_.emplace(name, at);
  }
  static void give_class(std::optional<weight_scheme>& kind, const std::optional<weight_scheme>& scheme,
                         const json_field& target) {
    if (kind && !(kind == scheme)) target.refuse("another group already covers every such module");
    kind = scheme;
  }

  [[nodiscard]] std::optional<weight_scheme> config_group_scheme(const json_field& weights,
                                                                 const std::string& format,
                                                                 const std::optional<json_field>& inputs) {
    static constexpr const char* known_formats[] = {
        "float-quantized", "int-quantized",        "pack-quantized",  "nvfp4-pack-quantized",
        "naive-quantized", "mxfp4-pack-quantized", "mxfp8-quantized", ""};
    bool known = false;
    for (const char* name : known_formats) known = known || format == name;
    if (format == "dense") {
      note("format is dense: the weights are stored in the dtype");
      return std::nullopt;
    }
    if (!known) {
      std::string line =
          "format \"" + detail::printable(format, 40) + "\" is not supported, expected one of dense";
      for (const char* name : known_formats) line.append(*name == '\0' ? "" : " ").append(name);
      weights.refuse(line);
    }
    const std::string type = detail::one_of(weights, "type", "int", {"int", "float"});
    const std::uint64_t bits = weights.required_integer("num_bits");
    const std::uint32_t group = detail::group_in(detail::given(weights, "group_size"), 0);
    const std::string strategy = detail::one_of(weights, "strategy", group == 0 ? "tensor" : "group",
                                                {"tensor", "channel", "group", "block", "tensor_group"});
    const bool grouped = strategy == "group" || strategy == "tensor_group";
    if (grouped && group == 0) weights.refuse("strategy \"" + strategy + "\" needs a group_size");
    const bool symmetric = detail::flag_in(weights, "symmetric", true);
    const bool static_inputs = inputs && inputs->value().is_object() && !is_dynamic(*inputs);
    if (static_inputs) note("scales of inputs are counted as 4 bytes per matrix");
    if (type == "float")
      return float_group(weights, format, bits, strategy, group, inputs.has_value(), static_inputs);
    return integer_group(weights, format, bits, strategy, group, symmetric, static_inputs);
  }
  /// `dynamic` is a flag, or "local" where a static global scale stays.
  [[nodiscard]] static bool is_dynamic(const json_field& inputs) {
    const std::optional<json_field> member = detail::given(inputs, "dynamic");
    if (!member) return false;
    return member->value().is_string() ? false : member->flag();
  }

  [[nodiscard]] weight_scheme float_group(const json_field& weights, const std::string& format,
                                          std::uint64_t bits, const std::string& strategy,
                                          std::uint32_t group, bool has_inputs, bool static_inputs) {
    const std::uint8_t input_bytes = static_inputs ? std::uint8_t{4} : std::uint8_t{0};
    const bool one_byte_scales = detail::text_in(weights, "scale_dtype").find("uint8") != std::string::npos;
    if (bits == 4) {
      if (format == "mxfp4-pack-quantized" || (one_byte_scales && group == 32)) {
        if (group != 32) weights.refuse("MXFP4 has groups of 32, not " + std::to_string(group));
        return schemes::mxfp4;
      }
      if (group != 16) weights.refuse("NVFP4 has groups of 16, not " + std::to_string(group));
      return detail::with_matrix_bytes(schemes::nvfp4, has_inputs ? std::uint8_t{8} : std::uint8_t{4});
    }
    if (bits != 8) detail::refuse_bits(weights, bits, "4 or 8 for floats");
    if (strategy == "tensor") return detail::with_matrix_bytes(schemes::fp8_linear, input_bytes);
    note("scales are stored in 16 or in 32 bits, which the file does not say");
    if (strategy == "channel") return detail::with_matrix_bytes(schemes::fp8_channel, input_bytes);
    if (strategy == "block") {
      weight_scheme scheme = detail::fp8_blocks(weights.at("block_structure"), 2);
      scheme.sidecar.scale_bytes_high = 4;
      return detail::with_matrix_bytes(scheme, input_bytes);
    }
    if (one_byte_scales || format == "mxfp8-quantized")
      return detail::scaled("mxfp8", formats::fp8_e4m3, group, 1);
    return detail::with_matrix_bytes(detail::scaled("fp8_group", formats::fp8_e4m3, group, 2, 4),
                                     input_bytes);
  }

  [[nodiscard]] weight_scheme integer_group(const json_field& weights, const std::string& format,
                                            std::uint64_t bits, const std::string& strategy,
                                            std::uint32_t group, bool symmetric, bool static_inputs) {
    if (bits < 1 || bits > 8) detail::refuse_bits(weights, bits, "1 to 8 for integers");
    if (strategy == "block") weights.refuse("strategy \"block\" is not supported for integers");
    weight_scheme scheme =
        detail::words_of_integers(symmetric ? "int_packed" : "int_packed_asym", bits,
                                  strategy == "channel" || strategy == "tensor" ? 0 : group, !symmetric);
    if (strategy == "tensor") scheme.sidecar.scales = weight_scales::tensor;
    if (strategy == "tensor" && !symmetric)
      weights.refuse("strategy \"tensor\" is not supported with zero points");
    scheme.sidecar.matrix_bytes = static_inputs ? std::uint8_t{4} : std::uint8_t{0};
    if (has_column_order(weights)) scheme.sidecar.column_bytes = 4;
    if (format == "pack-quantized") {
      scheme.sidecar.matrix_bytes = static_cast<std::uint8_t>(scheme.sidecar.matrix_bytes + 16);
      return scheme;
    }
    // Everything else stores one byte per weight and per zero point.
    scheme.name = "int8_group";
    scheme.payload = formats::int8;
    scheme.sidecar.zero_bits = symmetric ? std::uint8_t{0} : std::uint8_t{8};
    scheme.sidecar.packed_rows = false;
    scheme.sidecar.scale_bytes_high = 4;
    note("scales are stored in 16 or in 32 bits, which the file does not say");
    return scheme;
  }
  /// Whether a g_idx is stored: an order of columns that groups follow.
  [[nodiscard]] static bool has_column_order(const json_field& weights) {
    const std::optional<json_field> order = detail::given(weights, "actorder");
    if (!order) return false;
    if (order->value().is_boolean()) return order->flag();
    const std::string name =
        detail::one_of(weights, "actorder", "", {"group", "dynamic", "weight", "static"});
    return name == "group" || name == "dynamic";
  }

  // AWQ, GPTQ and what is stored like them

  void read_awq(const json_field& q) {
    const std::uint64_t bits = detail::integer_in(q, {"bits", "w_bit"}, 4);
    if (bits != 4) detail::refuse_bits(q, bits, "4 for AWQ");
    const std::string version =
        detail::one_of(q, "version", "gemm", {"gemm", "gemv", "gemv_fast", "exllama", "ipex"});
    if (version == "gemv" || version == "gemv_fast")
      note("AWQ " + version + ": what pads the zero points is not counted");
    const std::uint32_t group = detail::group_in(detail::given(q, {"group_size", "q_group_size"}), 128);
    linear_ = detail::words_of_integers("awq", 4, group, true);
    leave_alone(q, {"modules_to_not_convert"}, detail::name_syntax::parts);
    spare_all_but_decoder_layers("AWQ");
  }
  /// Quantizers that walk through the decoder layers leave everything else.
  void spare_all_but_decoder_layers(const char* method) {
    only_layers_ = spares_routers_ = spares_towers_ = true;
    note(std::string(method) + ": what is outside the decoder layers (towers, head) is not quantized");
  }

  void read_gptq(const json_field& q) {
    const std::string format = detail::one_of(q, "checkpoint_format", "gptq", {"gptq", "gptq_v2", "marlin"});
    const bool is_marlin = format == "marlin" || detail::flag_in(q, "is_marlin_format");
    const std::uint64_t bits = q.required_integer("bits");
    const std::uint32_t group = detail::group_in(detail::given(q, "group_size"), 128);
    linear_ = gptq_scheme(q, bits, group, is_marlin);
    if (const std::optional<json_field> inside = detail::given(q, "modules_in_block_to_quantize")) {
      only_these_.emplace();
      for (std::size_t i = 0, size = inside->size(); i < size; ++i) {
        const json_field entry = inside->at(i);
        if (entry.value().is_array()) {
          only_these_->add_all(entry, detail::name_syntax::parts);
        } else {
          only_these_->add(entry.text(), detail::name_syntax::parts, entry);
        }
      }
    }
    if (const std::optional<json_field> dynamic = detail::given(q, "dynamic")) {
      for (const auto& [pattern, unused] : dynamic->as_object().value().items())
        read_dynamic_rule(pattern, dynamic->at(pattern), bits, group, is_marlin);
    }
    leave_alone(q, {"modules_to_not_convert"}, detail::name_syntax::parts);
    spare_all_but_decoder_layers("GPTQ");
    if (detail::flag_in(q, "lm_head")) give_name("lm_head", linear_);
    if (!is_marlin) note("GPTQ: zero points and g_idx are stored; engines that repack for Marlin drop them");
  }
  [[nodiscard]] static weight_scheme gptq_scheme(const json_field& place, std::uint64_t bits,
                                                 std::uint32_t group, bool is_marlin) {
    if (bits != 2 && bits != 3 && bits != 4 && bits != 8)
      detail::refuse_bits(place, bits, "2, 3, 4 or 8 for GPTQ");
    weight_scheme scheme =
        detail::words_of_integers(is_marlin ? "gptq_marlin" : "gptq", bits, group, !is_marlin);
    if (!is_marlin) scheme.sidecar.column_bytes = 4;
    return scheme;
  }
  /// GPTQModel: "-:expression" leaves modules alone; "+:expression", or without a sign, changes some of the
  /// numbers.
  void read_dynamic_rule(const std::string& pattern, const json_field& change, std::uint64_t bits,
                         std::uint32_t group, bool is_marlin) {
    const std::string_view sign = std::string_view(pattern).substr(0, 2);
    const std::string_view expression =
        std::string_view(pattern).substr(sign == "-:" || sign == "+:" ? 2 : 0);
    std::optional<weight_scheme> scheme;
    if (sign != "-:") {
      change.as_object();
      scheme = gptq_scheme(change, detail::integer_in(change, {"bits"}, bits),
                           detail::group_in(detail::given(change, "group_size"), group), is_marlin);
    }
    add_rule(expression, detail::name_syntax::regex, scheme, change);
  }

  void read_auto_round(const json_field& q) {
    const std::string packing = detail::lower(detail::text_in(q, "packing_format"));
    const std::string type = detail::one_of(q, "data_type", "int", {"int"});
    const bool is_awq = packing.find("awq") != packing.npos;
    if (!packing.empty() && !is_awq && packing.find("gptq") == packing.npos && packing != "auto_round") {
      q.at("packing_format")
          .refuse("\"" + detail::printable(packing, 40) +
                  "\" is not supported, expected auto_round, auto_round:auto_gptq or auto_round:auto_awq");
    }
    const std::uint64_t bits = q.required_integer("bits");
    const std::uint32_t group = detail::group_in(detail::given(q, "group_size"), 128);
    linear_ = auto_round_scheme(q, bits, group);
    if (const std::optional<json_field> extra = detail::given(q, "extra_config")) {
      for (const auto& [name, unused] : extra->as_object().value().items()) {
        const json_field change = extra->at(name).as_object();
        const std::uint64_t own = detail::integer_in(change, {"bits"}, bits);
        std::optional<weight_scheme> scheme;
        if (own < 16)
          scheme =
              auto_round_scheme(change, own, detail::group_in(detail::given(change, "group_size"), group));
        if (name.find_first_of("*^$|\\(") == name.npos) {
          give_name(name, scheme);
        } else {
          add_rule(name, detail::name_syntax::regex, scheme, change);
        }
      }
    }
    leave_alone(q, {"modules_to_not_convert"}, detail::name_syntax::parts);
    spare_all_but_decoder_layers("AutoRound");
    note("AutoRound: a g_idx of 4 bytes per input column, which some of its files have, is not counted");
  }
  [[nodiscard]] static weight_scheme auto_round_scheme(const json_field& place, std::uint64_t bits,
                                                       std::uint32_t group) {
    if (bits != 2 && bits != 3 && bits != 4 && bits != 8)
      detail::refuse_bits(place, bits, "2, 3, 4 or 8 for AutoRound");
    return detail::words_of_integers("auto_round", bits, group, true);
  }

  // Methods that transformers applies to every linear layer

  void read_bitsandbytes(const json_field& q) {
    const bool four = detail::flag_in(q, "load_in_4bit") || detail::flag_in(q, "_load_in_4bit");
    const bool eight = detail::flag_in(q, "load_in_8bit") || detail::flag_in(q, "_load_in_8bit");
    if (four == eight) q.refuse("bitsandbytes needs load_in_4bit or load_in_8bit");
    if (four) {
      (void)detail::one_of(q, "bnb_4bit_quant_type", "fp4", {"nf4", "fp4"});
      linear_ = detail::flag_in(q, "bnb_4bit_use_double_quant") ? schemes::nf4_double_quant : schemes::nf4;
      note(
          "bitsandbytes: what describes a 4-bit matrix on disk (code tables, about 0.2 to 1.2 KB) is not "
          "counted");
    } else {
      linear_ = schemes::llm_int8;
    }
    leave_alone_or_heads(q, {"llm_int8_skip_modules", "modules_to_not_convert"});
  }
  /// A list replaces the default, which is the head.
  void leave_alone_or_heads(const json_field& q, std::initializer_list<const char*> keys) {
    leave_alone(q, keys, detail::name_syntax::parts);
    spares_heads_ = left_alone_.empty();
    if (spares_heads_) note("no list of modules that are left alone: the head is, as by default");
  }

  void read_mxfp4(const json_field& q) {
    linear_ = schemes::mxfp4;
    only_experts_ = spares_routers_ = true;
    leave_alone(q, {"modules_to_not_convert"}, detail::name_syntax::parts);
    note("MXFP4: only experts are quantized");
  }

  void read_hqq(const json_field& q) {
    const std::optional<json_field> whole = detail::given(q, "quant_config");
    const json_field& outer = whole ? *whole : q;
    for (const char* key : {"scale_quant_params", "zero_quant_params"}) {
      if (const std::optional<json_field> second = detail::given(outer, key))
        second->refuse(
            "scales and zero points that are quantized themselves are not supported, expected null");
    }
    if (const std::optional<json_field> plain = detail::given(outer, "weight_quant_params")) {
      linear_ = hqq_scheme(*plain);
    } else if (detail::given(outer, {"nbits", "bits"})) {
      linear_ = hqq_scheme(outer);
    } else {
      bool any = false;
      for (const auto& [name, unused] : outer.value().items()) {
        const json_field own = outer.at(name);
        if (!own.value().is_object()) continue;
        const std::optional<json_field> nested = detail::given(own, "weight_quant_params");
        add_rule(name, detail::name_syntax::parts, hqq_scheme(nested ? *nested : own), own);
        any = true;
      }
      if (!any) outer.refuse("key \"weight_quant_params\" is missing");
      note("HQQ: modules that are not named are not quantized");
    }
    leave_alone_or_heads(q, {"skip_modules", "modules_to_not_convert"});
    note("HQQ: scales and zero points are taken to be in 16 bits");
  }
  /// Groups run over the flattened matrix; 3 bits are ten to a 32-bit word.
  [[nodiscard]] static weight_scheme hqq_scheme(const json_field& params) {
    const std::uint64_t bits = detail::integer_in(params.as_object(), {"nbits", "bits"}, 4);
    if (bits != 1 && bits != 2 && bits != 3 && bits != 4 && bits != 8)
      detail::refuse_bits(params, bits, "1, 2, 3, 4 or 8 for HQQ");
    for (const char* key : {"quant_zero", "quant_scale"}) {
      if (detail::flag_in(params, key)) params.refuse(std::string(key) + " is not supported, expected false");
    }
    constexpr number_format ten_to_a_word{"hqq3", 10, 4};
    weight_scheme scheme = schemes::hqq;
    scheme.payload = bits == 3 ? ten_to_a_word : detail::packed_integer(bits);
    scheme.sidecar.group = detail::group_in(detail::given(params, "group_size"), 64);
    if (scheme.sidecar.group == 0) scheme.sidecar.scales = weight_scales::channel;
    return scheme;
  }

  void read_torchao(const json_field& q) {
    const json_field type = q.at("quant_type");
    if (type.value().is_string()) {
      const std::optional<json_field> arguments = detail::given(q, "quant_type_kwargs");
      linear_ = torchao_scheme(type, type.text(), arguments ? *arguments : q);
    } else {
      const std::optional<json_field> by_default = detail::given(type.as_object(), "default");
      const json_field config = by_default ? *by_default : type;
      if (detail::text_in(config, "_type") == "ModuleFqnToConfig" ||
          detail::text_in(config, "_type") == "FqnToConfig") {
        read_torchao_by_name(config.at("_data"));
      } else {
        linear_ = torchao_config(config);
      }
    }
    rules_cover_tables_ = true;
    const bool tables_too = detail::flag_in(q, "include_input_output_embeddings");
    if (tables_too) tables_ = linear_;
    leave_alone(q, {"modules_to_not_convert"}, detail::name_syntax::parts);
    spares_heads_ = !tables_too;
    note(
        "torchao: scales and zero points are taken to be in 16 bits where they belong to integers, in 32 "
        "where "
        "they belong to floats");
  }
  void read_torchao_by_name(const json_field& data) {
    const std::optional<json_field> nested =
        detail::given(data.as_object(), {"module_fqn_to_config", "fqn_to_config"});
    const json_field& table = nested ? *nested : data;
    for (const auto& [name, unused] : table.as_object().value().items()) {
      const json_field own = table.at(name);
      const std::optional<weight_scheme> scheme =
          own.value().is_null() ? std::nullopt : std::optional<weight_scheme>(torchao_config(own));
      if (name == "_default") {
        linear_ = scheme;
      } else if (name.compare(0, 3, "re:") == 0) {
        add_rule(name, detail::name_syntax::tagged, scheme, own);
      } else {
        give_name(name, scheme);
      }
    }
  }
  [[nodiscard]] static weight_scheme torchao_config(const json_field& config) {
    const json_field type = config.as_object().at("_type");
    const std::optional<json_field> data = detail::given(config, "_data");
    return torchao_scheme(type, type.text(), data ? *data : config);
  }
  [[nodiscard]] static weight_scheme torchao_scheme(const json_field& place, const std::string& name,
                                                    const json_field& arguments) {
    arguments.as_object();
    if (name == "int4_weight_only" || name == "Int4WeightOnlyConfig")
      return detail::scaled("torchao_int4", formats::int4,
                            detail::group_in(detail::given(arguments, "group_size"), 128), 4);
    if (name == "int8_weight_only" || name == "Int8WeightOnlyConfig")
      return detail::scaled("torchao_int8", formats::int8,
                            detail::group_in(detail::given(arguments, "group_size"), 0), 2);
    if (name == "int8_dynamic_activation_int8_weight" || name == "Int8DynamicActivationInt8WeightConfig")
      return detail::scaled("torchao_int8", formats::int8, 0, 2);
    if (name == "float8_weight_only" || name == "Float8WeightOnlyConfig")
      return detail::scaled("torchao_float8", formats::fp8_e4m3, 0, 4);
    if (name == "float8_dynamic_activation_float8_weight" ||
        name == "Float8DynamicActivationFloat8WeightConfig") {
      const bool by_row = arguments.value().dump().find("PerRow") != std::string::npos;
      return by_row ? detail::scaled("torchao_float8", formats::fp8_e4m3, 0, 4) : schemes::fp8_linear;
    }
    place.refuse("torchao type \"" + detail::printable(name, 50) +
                 "\" is not supported, expected int4_weight_only, int8_weight_only, "
                 "int8_dynamic_activation_int8_weight, float8_weight_only or "
                 "float8_dynamic_activation_float8_weight");
  }

  void read_quanto(const json_field& q) {
    const std::string weights = detail::one_of(q, "weights", "int8", {"int8", "float8", "int4", "int2"});
    if (weights == "int8") linear_ = detail::scaled("quanto_int8", formats::int8, 0, 2);
    if (weights == "float8") linear_ = detail::scaled("quanto_float8", formats::fp8_e4m3, 0, 2);
    if (weights == "int4") linear_ = detail::scaled("quanto_int4", formats::int4, 128, 4);
    if (weights == "int2") linear_ = detail::scaled("quanto_int2", formats::int2, 128, 4);
    leave_alone_or_heads(q, {"modules_to_not_convert"});
    note("quanto: scales, and shifts of 4 and 2 bits per 128 columns, are taken to be in 16 bits");
  }

  void read_eetq(const json_field& q) {
    (void)detail::one_of(q, "weights", "int8", {"int8"});
    linear_ = detail::scaled("eetq", formats::int8, 0, 2);
    leave_alone_or_heads(q, {"modules_to_not_convert"});
    note("EETQ: scales are taken to be in 16 bits");
  }

  // ModelOpt

  void read_modelopt(const json_field& q) {
    spares_routers_ = spares_towers_ = true;
    leave_alone(q, {"ignore", "exclude_modules"}, detail::name_syntax::wildcards);
    const std::optional<json_field> algorithm = detail::given(q, {"quant_algo", "moe_quant_algo"});
    const std::string name = algorithm ? detail::upper(algorithm->text()) : "NO_QUANT";
    if (name == "MIXED_PRECISION") return read_quantized_layers(q);
    if (name == "NO_QUANT" || name == "NONE") {
      if (detail::given(q, "config_groups")) q.refuse("key \"quant_algo\" is missing");
      note("no quant_algo: the weights are stored in the dtype");
      return;
    }
    linear_ = modelopt_scheme(*algorithm, name, modelopt_group(q));
  }
  /// `group_size`, also from the first of `config_groups`.
  [[nodiscard]] static std::optional<json_field> modelopt_group(const json_field& q) {
    std::optional<json_field> size = detail::given(q, "group_size");
    const std::optional<json_field> groups = detail::given(q, "config_groups");
    if (size || !groups || groups->as_object().value().empty()) return size;
    const json_field first = groups->at(groups->value().begin().key());
    const std::optional<json_field> weights = detail::given(first, "weights");
    return weights ? detail::given(*weights, "group_size") : std::nullopt;
  }
  void read_quantized_layers(const json_field& q) {
    const json_field layers = q.at("quantized_layers").as_object();
    for (const auto& [key, value] : layers.value().items()) {
      if (value.is_object()) {
        const json_field own = layers.at(key);
        const json_field algorithm = own.at("quant_algo");
        const weight_scheme scheme =
            modelopt_scheme(algorithm, detail::upper(algorithm.text()), detail::given(own, "group_size"));
        if (key.find_first_of("*?{") != key.npos) {
          add_rule(key, detail::name_syntax::wildcards, scheme, own);
        } else {
          give_name(key, scheme);
        }
        continue;
      }
      read_shortened_layer(key, layers);
    }
  }
  /// "name with {n} => what each of them is stored as": a number of them.
  void read_shortened_layer(const std::string& key, const json_field& layers) {
    constexpr std::string_view arrow = " => ";
    const std::size_t at = key.find(arrow);
    if (at == key.npos)
      layers.refuse("\"" + detail::printable(key, 60) + "\" must be an object with quant_algo");
    const json_document own = parse_json(std::string_view(key).substr(at + arrow.size()), layers.source());
    const json_field value(own);
    const json_field algorithm = value.at("quant_algo");
    const weight_scheme scheme =
        modelopt_scheme(algorithm, detail::upper(algorithm.text()), detail::given(value, "group_size"));
    const std::string name = key.substr(0, at);
    if (name.find(detail::name_pattern::any_number) == name.npos) return give_name(name, scheme);
    add_rule(name, detail::name_syntax::wildcards, scheme, layers);
  }
  [[nodiscard]] weight_scheme modelopt_scheme(const json_field& place, const std::string& name,
                                              const std::optional<json_field>& group) {
    const auto exactly = [&](std::uint32_t size) {
      if (const std::uint32_t found = detail::group_in(group, size); found != size)
        group->refuse(name + " has groups of " + std::to_string(size) + ", not " + std::to_string(found));
    };
    if (name == "FP8") return detail::with_matrix_bytes(schemes::fp8_linear, 4);
    if (name == "FP8_PER_CHANNEL_PER_TOKEN") return detail::scaled("fp8_row", formats::fp8_e4m3, 0, 4);
    if (name == "FP8_PB_WO") return schemes::fp8_block;
    if (name == "MXFP8") {
      exactly(32);
      return schemes::mxfp8;
    }
    if (name == "NVFP4") {
      exactly(16);
      return schemes::nvfp4;
    }
    if (name == "W4A16_NVFP4") {
      exactly(16);
      return detail::with_matrix_bytes(schemes::nvfp4, 4);
    }
    if (name == "MXFP4" || name == "W4A8_MXFP4_FP8" || name == "W4A8_MXFP4_MXFP8") {
      exactly(32);
      return detail::with_matrix_bytes(schemes::mxfp4,
                                       name == "W4A8_MXFP4_FP8" ? std::uint8_t{4} : std::uint8_t{0});
    }
    if (name == "NVFP4_AWQ") {
      exactly(16);
      note(
          "a scale of 16 bits per input column is counted for every AWQ matrix; ModelOpt folds some into "
          "norms");
      weight_scheme scheme = schemes::nvfp4;
      scheme.sidecar.column_bytes = 2;
      return scheme;
    }
    if (name == "W4A16_AWQ" || name == "W4A8_AWQ") {
      note(
          "a scale of 16 bits per input column is counted for every AWQ matrix; ModelOpt folds some into "
          "norms");
      note("scales are stored in 16 or in 32 bits, which the file does not say");
      weight_scheme scheme = detail::scaled("int4_awq", formats::int4, detail::group_in(group, 128), 2, 4);
      scheme.sidecar.column_bytes = 2;
      return detail::with_matrix_bytes(scheme, name == "W4A8_AWQ" ? std::uint8_t{8} : std::uint8_t{0});
    }
    if (name == "INT8_SQ" || name == "W8A8_SQ_PER_CHANNEL" || name == "INT8_WO" || name == "W8A16") {
      note("scales are stored in 16 or in 32 bits, which the file does not say");
      weight_scheme scheme = schemes::int8_channel;
      const bool smooth = name == "INT8_SQ" || name == "W8A8_SQ_PER_CHANNEL";
      if (!smooth) return scheme;
      scheme.sidecar.column_bytes = 2;
      return detail::with_matrix_bytes(scheme, 4);
    }
    place.refuse(
        "algorithm \"" + detail::printable(name, 40) +
        "\" is not supported, expected one of FP8 FP8_PER_CHANNEL_PER_TOKEN FP8_PB_WO MXFP8 NVFP4 "
        "W4A16_NVFP4 NVFP4_AWQ MXFP4 W4A8_MXFP4_FP8 W4A16_AWQ W4A8_AWQ INT8_SQ INT8_WO MIXED_PRECISION");
  }

  // Quark

  void read_quark(const json_field& q) {
    leave_alone(q, {"exclude"}, detail::name_syntax::wildcards);
    spares_routers_ = true;
    const std::optional<json_field> everywhere = detail::given(q, "global_quant_config");
    if (everywhere && !everywhere->as_object().value().empty()) linear_ = quark_scheme(*everywhere);
    if (const std::optional<json_field> own = detail::given(q, "layer_quant_config")) {
      for (const auto& [name, unused] : own->as_object().value().items())
        add_rule(name, detail::name_syntax::wildcards, quark_scheme(own->at(name)), *own);
    }
    if (const std::optional<json_field> types = detail::given(q, "layer_type_quant_config");
        types && !types->as_object().value().empty()) {
      types->refuse("rules by class are not supported, expected none");
    }
    note("Quark: scales are taken to be in 32 bits, one byte in MXFP4");
  }
  [[nodiscard]] static std::optional<weight_scheme> quark_scheme(const json_field& layer) {
    const std::optional<json_field> weight = detail::given(layer, "weight");
    if (!weight) return std::nullopt;
    if (!weight->value().is_object()) weight->refuse("more than one stage of quantization is not supported");
    const std::string dtype =
        detail::one_of(*weight, "dtype", "", {"fp8_e4m3", "int8", "fp4", "int4", "uint4"});
    const std::string scheme =
        detail::one_of(*weight, "qscheme", "", {"per_tensor", "per_channel", "per_group"});
    const std::uint32_t group = detail::group_in(detail::given(*weight, "group_size"), 0);
    if (scheme == "per_group" && group == 0) weight->refuse("qscheme per_group needs a group_size");
    const std::optional<json_field> inputs = detail::given(layer, "input_tensors");
    const bool static_inputs =
        inputs && inputs->value().is_object() && !detail::flag_in(*inputs, "is_dynamic");
    const std::uint8_t matrix_bytes = static_inputs ? std::uint8_t{4} : std::uint8_t{0};
    if (dtype == "fp4") {
      if (scheme == "per_group" && group == 32) return schemes::mxfp4;
    } else if (dtype == "fp8_e4m3" || dtype == "int8") {
      const number_format& payload = dtype == "int8" ? formats::int8 : formats::fp8_e4m3;
      weight_scheme found = detail::scaled("quark_8bit", payload, scheme == "per_group" ? group : 0, 4);
      if (scheme == "per_tensor") found.sidecar.scales = weight_scales::tensor;
      return detail::with_matrix_bytes(found, matrix_bytes);
    } else if (scheme == "per_group") {
      weight_scheme found = detail::scaled("quark_int4", formats::int4, group, 4);
      found.sidecar.zero_bits = dtype == "uint4" ? std::uint8_t{4} : std::uint8_t{0};
      return detail::with_matrix_bytes(found, matrix_bytes);
    }
    weight->refuse(
        "dtype " + dtype + " with " + scheme +
        " is not supported, expected fp8_e4m3 or int8, fp4 per_group of 32, int4 or uint4 per_group");
  }

  // BitNet, MLX

  /// Four ternary weights to a byte, and one 16-bit scale per matrix.
  void read_bitnet(const json_field& q) {
    linear_ = weight_scheme("bitnet", formats::int2, {.scales = weight_scales::tensor, .scale_bytes = 2});
    leave_alone(q, {"modules_to_not_convert"}, detail::name_syntax::parts);
    spares_heads_ = true;
  }

  /// MLX quantizes every linear layer and embedding of the language model: words of integers with a 16-bit
  /// scale and a 16-bit offset per group. A module's own key changes its numbers, or leaves it alone with
  /// false. Source: ml-explore/mlx-lm mlx_lm/utils.py, quantize_model; ml-explore/mlx
  /// python/mlx/nn/layers/quantized.py.
  void read_mlx(const json_field& q) {
    linear_ = tables_ = mlx_scheme(q, q);
    spares_towers_ = true;
    for (const auto& [name, value] : q.value().items()) {
      const json_field own = q.at(name);
      if (value.is_object()) {
        give_name(name, mlx_scheme(own, q));
      } else if (value.is_boolean() && name.find('.') != name.npos) {
        if (!own.flag()) give_name(name, std::nullopt);
      }
    }
  }
  [[nodiscard]] static weight_scheme mlx_scheme(const json_field& own, const json_field& q) {
    const std::optional<json_field> own_mode = detail::given(own, "mode");
    const std::string mode =
        detail::one_of(own_mode ? own : q, "mode", "affine", {"affine", "mxfp4", "mxfp8", "nvfp4"});
    if (mode == "mxfp4") return schemes::mxfp4;
    if (mode == "mxfp8") return schemes::mxfp8;
    if (mode == "nvfp4") return detail::scaled("nvfp4", formats::fp4_e2m1, 16, 1);
    const std::uint64_t bits = detail::integer_in(own, {"bits"}, detail::integer_in(q, {"bits"}, 4));
    if (bits < 2 || bits > 8 || bits == 7) detail::refuse_bits(own, bits, "2, 3, 4, 5, 6 or 8 for MLX");
    const std::optional<json_field> own_group = detail::given(own, "group_size");
    const std::uint32_t group = detail::group_in(own_group ? own_group : detail::given(q, "group_size"), 64);
    if (group == 0) own.refuse("group_size must be at least 1");
    return detail::scaled("mlx", detail::packed_integer(bits), group, 4);
  }

  // -- the cache --------------------------------------------------------------------------------------------

  void read_kv_cache(const json_field& q) {
    const std::optional<json_field> inner = detail::given(q, "quantization");
    const bool is_nested = inner && inner->value().is_object();
    const json_field& place = is_nested ? *inner : q;
    if (const std::optional<json_field> algorithm = detail::given(place, "kv_cache_quant_algo")) {
      const std::string name = detail::upper(algorithm->text());
      kv_cache_format_ = name == "FP8" ? "fp8_e4m3" : detail::lower(detail::printable(name, 20));
    } else if (const std::optional<json_field> scheme = detail::given(place, "kv_cache_scheme")) {
      const std::uint64_t bits = detail::integer_in(scheme->as_object(), {"num_bits"}, 8);
      const std::string type = detail::text_in(*scheme, "type");
      const bool is_float = type.empty() || type == "float";
      if (bits == 8) {
        kv_cache_format_ = is_float ? "fp8_e4m3" : "int8";
      } else {
        kv_cache_format_ = bits == 4 && is_float ? "nvfp4" : "int" + std::to_string(bits);
      }
    }
    if (kv_cache_format_) note("the checkpoint has scales for a KV cache in " + *kv_cache_format_);
  }

  static constexpr std::size_t most_rules = 4096;

  context context_;
  std::string method_;
  std::string place_;
  std::vector<std::string> notes_;
  std::vector<std::string> doubts_;
  std::map<std::uint32_t, std::uint64_t> named_layers_;  ///< what lists say of a layer, as a number
  bool layers_are_named_singly_ = true;
  std::optional<std::string> kv_cache_format_;

  // In the order in which they count: what is left alone, modules by name, what the method spares, rules.
  detail::name_list left_alone_;
  std::map<std::string, std::size_t, std::less<>> by_name_;  ///< modules, or what they are part of
  std::vector<storage> storages_;
  std::vector<rule> rules_;
  bool shortened_ = false;

  // What is left after the lists and rules.
  bool rules_cover_tables_ = false;  ///< not only linear layers
  bool only_experts_ = false;
  bool only_layers_ = false;
  bool spares_routers_ = false;
  bool spares_towers_ = false;
  bool spares_heads_ = false;
  detail::name_list spared_parts_;
  std::optional<detail::name_list> only_these_;
  std::optional<weight_scheme> experts_;
  std::optional<weight_scheme> linear_;
  std::optional<weight_scheme> tables_;
};

}  // namespace kvbudget::inline v0
