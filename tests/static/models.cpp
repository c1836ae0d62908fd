// The bundled models in constant evaluation: published counts, cache geometry, lookup. Nothing to run.
#include "kvbudget/models.hpp"

#include "kvbudget/memory/kv_cache.hpp"
#include "kvbudget/model/builders.hpp"

namespace {

using namespace kvbudget;

// ---- parameter counts: the element counts of the published checkpoints
// -------------------------------------

struct published_count {
  const model_architecture* model;
  std::uint64_t elements;
  std::int64_t beyond;  ///< of these, no parameters; negative: parameters that the count leaves out
  bool published;
};
constexpr published_count counts[] = {
#define PUBLISHED(model, elements, beyond) {&models::model, elements, beyond, true},
#define SHAPE(model, elements) {&models::model, elements, 0, false},
#include "cases/model_counts.inc"
#undef PUBLISHED
#undef SHAPE
};
constexpr bool counts_are_as_published() {
  for (const published_count& entry : counts) {
    const std::uint64_t parameters = entry.elements - static_cast<std::uint64_t>(entry.beyond);
    if (parameter_count(*entry.model).value != parameters) return false;
  }
  return true;
}
static_assert(counts_are_as_published());

constexpr bool every_model_has_a_count() {
  for (const model_architecture* model : models::all) {
    int listed = 0;
    for (const published_count& entry : counts) listed += entry.model == model ? 1 : 0;
    if (listed != 1) return false;
  }
  return sizeof(counts) / sizeof(counts[0]) == sizeof(models::all) / sizeof(models::all[0]);
}
static_assert(every_model_has_a_count());

/// Scales that a checkpoint stores for its square blocks.
constexpr std::uint64_t block_scales(const model_architecture& model) {
  std::uint64_t sum = 0;
  const auto add = [&](const weight_group& group, std::uint64_t layers) {
    if (group.precision == 0) return;
    const weight_sidecar& beside = model.precisions[group.precision - 1].sidecar;
    if (beside.scales != weight_scales::block) return;
    const std::uint64_t side = beside.group;
    sum += (group.rows + side - 1) / side * ((group.columns + side - 1) / side) * group.copies * layers;
  };
  for (std::size_t i = 0; i < model.weight_count; ++i) add(model.weights[i], 1);
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    for (std::size_t i = 0; i < model.kinds[kind].weight_count; ++i) {
      add(model.kinds[kind].weights[i], model.layers_of[kind]);
    }
  }
  return sum;
}
// What the published counts of FP8 checkpoints hold beyond the parameters.
static_assert(block_scales(models::deepseek_v3) == 41'540'496);
static_assert(block_scales(models::deepseek_v3_2) == 41'591'584);
static_assert(block_scales(models::glm_5_1_fp8) == 45'885'024);
static_assert(block_scales(models::minimax_m2) == 13'880'064);
static_assert(block_scales(models::kimi_k2) == 62'498'608 - 61 * 56);
static_assert(block_scales(models::llama_3_1_8b) == 0);

static_assert(parameter_count(models::gemma_3_27b, module_role::vision) ==
              parameters{416'866'032 + 1152 * 5376 + 1152});
static_assert(parameter_count(models::gemma_3_27b) -
                  parameter_count(models::gemma_3_27b, module_role::vision) ==
              parameters{27'009'346'304});
static_assert(parameter_count(models::gemma_3_1b, module_role::vision) == parameters{0});
static_assert(active_parameter_count(models::llama_3_1_8b) == active_parameters{8'030'261'248});

constexpr bool every_model_is_in_order() {
  for (const model_architecture* model : models::all) {
    validate(*model);
    std::uint32_t layers = 0;
    for (std::size_t kind = 0; kind < model->kind_count; ++kind) layers += model->layers_of[kind];
    if (layers != model->num_hidden_layers) return false;
    if (model->parameters_assumed) continue;
    if (model->dtype.is_automatic() || model->vocab_size == 0) return false;
    // States alone have no trained limit that would matter, and encoders no head.
    const store_kind kept =
        model->kinds[0].store_count == 0 ? store_kind::none : model->kinds[0].stores[0].kind;
    if (kept != store_kind::recurrent && model->max_position_embeddings == 0) return false;
    const bool headless = parameter_count(*model, module_role::lm_head) == parameters{0};
    if (kept != store_kind::none && model->tie_word_embeddings != headless) return false;
  }
  return true;
}
static_assert(every_model_is_in_order());

// ---- cache geometry ---------------------------------------------------------------------------------------

constexpr std::uint64_t cache_bytes(const model_architecture& model, std::uint64_t context,
                                    std::uint64_t sequences, const number_format& format = formats::bf16) {
  const deployment d{
      .model = model, .kv_cache = format, .workload = {.sequences = sequences, .context = tokens{context}}};
  return kv_cache_of(d, share_of(d, rank{})).total().value;
}
static_assert(cache_bytes(models::llama_2_7b, 1, 1) == 524'288);
static_assert(cache_bytes(models::llama_3_1_8b, 1, 1) == 131'072);
static_assert(cache_bytes(models::llama_3_1_70b, 32'768, 8, formats::fp8_e4m3) == 42'949'672'960);
static_assert(cache_bytes(models::llama_3_1_405b, 1, 1) == 516'096);
static_assert(cache_bytes(models::qwen2_5_72b, 1, 1) == 327'680);
static_assert(cache_bytes(models::qwen3_8b, 1, 1) == 147'456);
static_assert(cache_bytes(models::phi_4, 1, 1) == 2 * 40 * 2 * 10 * 128);
// Windows: Mistral v0.1 all layers, v0.2 none; Gemma 2 every other; Gemma 3 five of six.
static_assert(cache_bytes(models::mistral_7b_v0_1, 131'072, 1) ==
              cache_bytes(models::mistral_7b_v0_1, 4096, 1));
static_assert(cache_bytes(models::mistral_7b_v0_2, 32'768, 1) == 32'768 * 131'072ull);
static_assert(cache_bytes(models::mistral_7b_v0_3, 32'768, 1) == 32'768 * 131'072ull);
static_assert(cache_bytes(models::gemma_2_9b, 131'072, 1) == 2 * 11'626'610'688);
static_assert(cache_bytes(models::gemma_2_27b, 5000, 3) == 2 * 2'570'747'904);
static_assert(cache_bytes(models::gemma_3_1b, 131'072, 1) == 2 * 274'202'624);
static_assert(cache_bytes(models::gemma_3_4b, 5000, 3) == 2 * 336'052'224);
static_assert(cache_bytes(models::gemma_3_27b, 131'072, 1) == 2 * 5'586'812'928);
// The article: 80 layers of 64 KV heads take 1.31 MB per token in FP8, 42.9 GB at 32,768.
static_assert(cache_bytes(models::article_70b_mha, 1, 1, formats::fp8_e4m3) == 1'310'720);
static_assert(cache_bytes(models::article_70b_mha, 32'768, 1, formats::fp8_e4m3) == 42'949'672'960);

// ---- the same models from the templated builders ----------------------------------------------------------

using attention = gqa<64, 8, 128>;
using llama_70b = decoder<hidden<8192>, vocabulary<128256>, repeat<80, block<attention, gated_mlp<28672>>>>;
static_assert(parameter_count(llama_70b::architecture) == parameter_count(models::llama_3_1_70b));
static_assert(llama_70b::architecture.kinds[0] == models::llama_3_1_70b.kinds[0]);
static_assert(cache_bytes(llama_70b::architecture, 1000, 7) == cache_bytes(models::llama_3_1_70b, 1000, 7));

// ---- lookup -----------------------------------------------------------------------------------------------

static_assert(models::find("llama-3.1-70b") == &models::llama_3_1_70b);
static_assert(models::find("LLAMA_3.1 70B") == &models::llama_3_1_70b);
static_assert(models::find("meta-llama/Llama-3.1-70B-Instruct") == &models::llama_3_1_70b);
static_assert(models::find("Meta-Llama-3.1-70B-Instruct") == &models::llama_3_1_70b);
static_assert(models::find("qwen2.5-7b") == &models::qwen2_5_7b);
static_assert(models::find("mistralai/mistral-7b-v0.1") == &models::mistral_7b_v0_1);
static_assert(models::find("article-70b-mha") == &models::article_70b_mha);
static_assert(models::find("llama") == nullptr);
static_assert(models::find("") == nullptr);
static_assert(models::find("/") == nullptr);
static_assert(models::find("- _") == nullptr);
static_assert(models::find("someone/Llama-3.1-70B") == nullptr);

constexpr bool suggests(const char* asked, const model_architecture& wanted) {
  const model_suggestions near = models::nearest(asked);
  for (std::size_t i = 0; i < near.count; ++i) {
    if (near.models[i] == &wanted) return true;
  }
  return false;
}
static_assert(suggests("llama 70b", models::llama_3_1_70b));
static_assert(suggests("llama 70b", models::llama_2_70b));
static_assert(suggests("lama-3.1-70b", models::llama_3_1_70b));
static_assert(suggests("gemma3-27", models::gemma_3_27b));
static_assert(suggests("mistral-7b", models::mistral_7b_v0_2));
static_assert(models::nearest("zzzzzzzz").count == 0);
static_assert(models::nearest("").count == 0);

constexpr bool every_name_finds_its_model() {
  for (const model_name& entry : models::names) {
    if (models::find(entry.name) != entry.model) return false;
  }
  for (const model_architecture* model : models::all) {
    if (models::find(model->name) != model) return false;
  }
  return true;
}
static_assert(every_name_finds_its_model());

/// What the draft layers of a catalogue model add to the cache of one sequence of `context` tokens in bf16.
constexpr std::uint64_t cache_of_drafts(const model_architecture& model, std::uint64_t context) {
  deployment d{.model = model, .kv_cache = formats::bf16};
  d.workload = {.sequences = 1, .context = tokens{context}};
  const bytes without = kv_cache_of(d, share_of(d, rank{})).total();
  d.speculation.kind = speculation_kind::mtp;
  return (kv_cache_of(d, share_of(d, rank{})).total() - without).value;
}
static_assert(cache_of_drafts(models::deepseek_v3, 1) == 1152);
static_assert(cache_of_drafts(models::deepseek_v3_2, 1) == 2 * (576 + 128));
static_assert(cache_of_drafts(models::mimo_v2_flash, 1000) == 3 * 128 * 8 * (192 + 128) * 2);
static_assert(cache_of_drafts(models::qwen3_6_27b, 10) == 10 * 4 * 512 * 2);
static_assert(cache_of_drafts(models::glm_4_5, 10) == 10 * 8 * 256 * 2);

}  // namespace
