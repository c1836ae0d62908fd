#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "kvbudget/io/gguf/architectures.hpp"
#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/io/huggingface/vision/tower.hpp"
#include "kvbudget/kvbudget.hpp"
#include "support/catch.hpp"
#include "support/configs.hpp"

using namespace kvbudget;

// The families of docs/model-families.md: examples of the page, and its lists.
namespace kvbudget::inline v0::detail {

// [table]
/// Acme 1 keeps a window in all layers but every sixth. Source: acme/acme-1 modeling_acme.py.
inline constexpr model_family acme_family{
    .model_type = "acme",
    .keys = {.num_hidden_layers = {{"n_layers", "num_hidden_layers"}}},
    .defaults = {.head_dim = 64, .max_position_embeddings = 32768, .tie_word_embeddings = true},
    .qkv_biases = {"attention_bias", false},
    .qk_norm = query_key_norm::head_dim,
    .windows = {.rule = window_rule::pattern, .window = 4096, .pattern = 6},
    .renames = {{"mlp.gate_proj", "mlp.gate_up_proj"}, {"mlp.up_proj", "mlp.gate_up_proj"}}};
// [table]

// [plan]
/// Acme 2: of each `cache_group` layers the first makes keys and values, which the others read; the MLP of
/// `wide_layers` is twice as wide. Source: acme/acme-2 modeling_acme2.py, Acme2DecoderLayer.
inline void plan_acme2(const config_view& config, const decoder_shape&, std::vector<layer_plan>& layers) {
  const std::uint32_t group = config.size_or({{"cache_group"}}, 2);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (i % group == 0) continue;
    layers[i].attention.shared_cache = true;
    layers[i].attention.owns_kv_weights = false;
  }
  const auto wide = config.find({{"wide_layers"}});
  for (std::size_t i = 0; wide && i < wide->size(); ++i) {
    const json_field entry = wide->at(i);
    if (entry.integer() >= layers.size()) entry.refuse("must be below the number of layers");
    std::uint32_t& width = layers[entry.integer()].mlp.intermediate_size;
    width = size_product(config, "2 x intermediate_size", 2, width);
  }
}

inline constexpr model_family acme2_family{.model_type = "acme2", .plan = plan_acme2};
// [plan]

// [tower]
/// Acme VL: a ViT with learned positions, and one linear layer to the text model.
/// Source: acme/acme-vl modeling_acme_vl.py.
inline void add_acme_tower(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described, "acme_vision");
  const tower vision(config, builder, module_role::vision);
  const tower_shape shape{.hidden_size = config.size({{"hidden_size"}}),
                          .intermediate_size = config.size({{"intermediate_size"}}),
                          .layers = tower_layers_in(config, {{"num_hidden_layers"}}),
                          .heads = config.size({{"num_attention_heads"}})};
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, 14);
  const std::uint32_t side = patches_per_side(config, side_in(config, {{"image_size"}}, 224), patch);
  vision.convolution(shape.hidden_size, patch_elements(config, 3, patch), true);
  vision.table(squared(config, "patches", side), shape.hidden_size);
  vision.encoder(shape, {"vision_tower.layers.0.attn.qkv", "vision_tower.layers.0.attn.proj",
                         "vision_tower.layers.0.mlp.fc1", "vision_tower.layers.0.mlp.fc2"});
  vision.whole(text.hidden_size, shape.hidden_size, true, "multi_modal_projector.linear");
}

inline constexpr model_family acme_vl_family{
    .model_type = "acme_vl", .text_model_type = "acme", .add_towers = add_acme_tower};
// [tower]

}  // namespace kvbudget::inline v0::detail

namespace {

/// A config read like a family that is in no table.
model_architecture read_like(const detail::model_family& family, const std::string& config) {
  const json_document document = parse_json(config, "test.json", huggingface_limits);
  detail::config_remarks remarks;
  const detail::config_view view(json_field(document), family.model_type, remarks);
  detail::decoder_shape shape = detail::shape_of(view, family);
  shape.tie_word_embeddings = family.defaults.tie_word_embeddings;
  model_architecture model{};
  detail::model_builder builder(model, family, {});
  detail::build_decoder(builder, view, family, shape);
  if (family.add_towers != nullptr) family.add_towers(view, shape, builder);
  validate(model);
  return model;
}

const std::string sizes = R"("hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 4,
    "vocab_size": 1000)";

/// The names in backticks behind a mark of a page, up to the next heading.
std::vector<std::string> names_behind(const std::string& mark) {
  std::ifstream file(KVBUDGET_DATA_DIR "/../docs/model-families.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const std::size_t first = page.find(mark);
  REQUIRE(first != std::string::npos);
  const std::string list = page.substr(first, page.find("\n#", first) - first);
  std::vector<std::string> names;
  for (std::size_t at = list.find('`'); at != std::string::npos; at = list.find('`', at + 1)) {
    const std::size_t end = list.find('`', at + 1);
    names.push_back(list.substr(at + 1, end - at - 1));
    at = end;
  }
  return names;
}

void check_list(const std::string& mark, const std::set<std::string>& known) {
  const std::vector<std::string> listed = names_behind(mark);
  const std::set<std::string> distinct(listed.begin(), listed.end());
  CHECK(distinct.size() == listed.size());
  for (const std::string& name : known) {
    CAPTURE(mark, name);
    CHECK(distinct.count(name) == 1);
  }
  for (const std::string& name : distinct) {
    CAPTURE(mark, name);
    CHECK(known.count(name) == 1);
  }
}

}  // namespace

TEST_CASE("the page on families lists every family and architecture") {
  std::set<std::string> families;
  for (const detail::family_table& table : detail::family_tables) {
    for (const detail::model_family& family : table) families.insert(family.model_type);
  }
  check_list("<!-- list: model_type -->", families);
  std::set<std::string> architectures;
  for (const detail::gguf_architecture& entry : detail::gguf_architectures) architectures.insert(entry.name);
  check_list("<!-- list: general.architecture -->", architectures);
}

TEST_CASE("the family that a table describes") {
  const model_architecture model =
      read_like(detail::acme_family, "{" + sizes + R"(, "n_layers": 12, "num_key_value_heads": 2})");
  // Each layer: queries and output, keys and values, their norms, three matrices of the MLP, two norms.
  constexpr std::uint64_t layer = 2 * 256 * 256 + 2 * 128 * 256 + 2 * 64 + 3 * 256 * 512 + 2 * 256;
  CHECK(parameter_count(model).value == 1000 * 256 + 12 * layer + 256);
  CHECK(model.kind_count == 2);
  CHECK(tests::elements(model, 8192, 1) == (10 * 4096 + 2 * 8192) * 2 * 128);
}

TEST_CASE("the family with a plan") {
  const std::string config = "{" + sizes + R"(, "num_hidden_layers": 4, "wide_layers": [)";
  const model_architecture model = read_like(detail::acme2_family, config + "3]}");
  constexpr std::uint64_t layer = 2 * 256 * 256 + 3 * 256 * 512 + 2 * 256;
  constexpr std::uint64_t keys_and_values = 2 * 256 * 256;
  constexpr std::uint64_t wider = 3 * 256 * 512;
  CHECK(parameter_count(model).value == 2 * 1000 * 256 + 4 * layer + 2 * keys_and_values + wider + 256);
  CHECK(tests::elements(model, 10, 1) == 10 * 2 * 2 * 256);
  CHECK(tests::message_of([&] { (void)read_like(detail::acme2_family, config + "4]}"); }) ==
        "test.json: wide_layers[0]: must be below the number of layers");
}

TEST_CASE("the family with a tower") {
  const model_architecture model =
      read_like(detail::acme_vl_family, "{" + sizes + R"(, "num_hidden_layers": 1, "vision_config": {
    "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
    "image_size": 28}})");
  constexpr std::uint64_t layer = 4 * (64 * 64 + 64) + 2 * 64 * 128 + 128 + 64 + 4 * 64;
  CHECK(parameter_count(model, module_role::vision).value ==
        3 * 14 * 14 * 64 + 64 + 4 * 64 + 2 * layer + 256 * 64 + 256);
}
