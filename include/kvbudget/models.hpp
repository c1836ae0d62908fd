#pragma once

// Generated from data/models/*.json by `cmake -P cmake/generate_models.cmake`. Do not edit.

#include "kvbudget/format/formats.hpp"
#include "kvbudget/lookup/model_lookup.hpp"
#include "kvbudget/model/model_architecture.hpp"

/// Well-known models; their sources stand in data/models. Include this header beside the umbrella where they
/// are used.
namespace kvbudget::inline v0::models {

// clang-format off
inline constexpr model_architecture article_70b_mha{
    .name = "article-70b-mha", .hidden_size = 8192, .num_hidden_layers = 80, .parameters_assumed = true, .kind_count = 1, .weight_count = 1, .layers_of = {80},
    .weights = {
        {.rows = 70000000000, .role = module_role::unattributed, .rule = shard_rule::spread},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 64, .key_dim = 128, .value_dim = 128}},
         .store_count = 1, .num_attention_heads = 64, .query_dim = 128, .value_dim = 128, .key_value_heads = 64},
    }};

inline constexpr model_architecture gemma_2_2b{
    .name = "gemma-2-2b", .model_type = "gemma2", .dtype = formats::bf16, .hidden_size = 2304, .vocab_size = 256000, .max_position_embeddings = 8192, .num_hidden_layers = 26, .tie_word_embeddings = true, .kind_count = 2, .weight_count = 2, .layers_of = {13, 13},
    .order = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
    .weights = {
        {.rows = 256000, .columns = 2304, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 2304, .role = module_role::norm, .kind = tensor_kind::vector},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::sliding_window, .kv_heads = 4, .key_dim = 256, .value_dim = 256, .window = 4096}},
         .weights = {
             {.rows = 2048, .columns = 2304, .units = 8, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 2304, .copies = 2, .units = 4, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 2304, .columns = 2048, .units = 8, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 9216, .columns = 2304, .copies = 2, .units = 9216, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 2304, .columns = 9216, .units = 9216, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 2304, .copies = 4, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 8, .query_dim = 256, .value_dim = 256, .key_value_heads = 4, .intermediate_size = 9216},
        {.stores = {{.kind = store_kind::full, .kv_heads = 4, .key_dim = 256, .value_dim = 256}},
         .weights = {
             {.rows = 2048, .columns = 2304, .units = 8, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 2304, .copies = 2, .units = 4, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 2304, .columns = 2048, .units = 8, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 9216, .columns = 2304, .copies = 2, .units = 9216, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 2304, .columns = 9216, .units = 9216, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 2304, .copies = 4, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 8, .query_dim = 256, .value_dim = 256, .key_value_heads = 4, .intermediate_size = 9216},
    }};

inline constexpr model_architecture gemma_2_9b{
    .name = "gemma-2-9b", .model_type = "gemma2", .dtype = formats::bf16, .hidden_size = 3584, .vocab_size = 256000, .max_position_embeddings = 8192, .num_hidden_layers = 42, .tie_word_embeddings = true, .kind_count = 2, .weight_count = 2, .layers_of = {21, 21},
    .order = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
    .weights = {
        {.rows = 256000, .columns = 3584, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 3584, .role = module_role::norm, .kind = tensor_kind::vector},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::sliding_window, .kv_heads = 8, .key_dim = 256, .value_dim = 256, .window = 4096}},
         .weights = {
             {.rows = 4096, .columns = 3584, .units = 16, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 2048, .columns = 3584, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 3584, .columns = 4096, .units = 16, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 14336, .columns = 3584, .copies = 2, .units = 14336, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 3584, .columns = 14336, .units = 14336, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 3584, .copies = 4, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 16, .query_dim = 256, .value_dim = 256, .key_value_heads = 8, .intermediate_size = 14336},
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 256, .value_dim = 256}},
         .weights = {
             {.rows = 4096, .columns = 3584, .units = 16, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 2048, .columns = 3584, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 3584, .columns = 4096, .units = 16, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 14336, .columns = 3584, .copies = 2, .units = 14336, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 3584, .columns = 14336, .units = 14336, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 3584, .copies = 4, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 16, .query_dim = 256, .value_dim = 256, .key_value_heads = 8, .intermediate_size = 14336},
    }};

inline constexpr model_architecture gemma_2_27b{
    .name = "gemma-2-27b", .model_type = "gemma2", .dtype = formats::bf16, .hidden_size = 4608, .vocab_size = 256000, .max_position_embeddings = 8192, .num_hidden_layers = 46, .tie_word_embeddings = true, .kind_count = 2, .weight_count = 2, .layers_of = {23, 23},
    .order = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
    .weights = {
        {.rows = 256000, .columns = 4608, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 4608, .role = module_role::norm, .kind = tensor_kind::vector},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::sliding_window, .kv_heads = 16, .key_dim = 128, .value_dim = 128, .window = 4096}},
         .weights = {
             {.rows = 4096, .columns = 4608, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 2048, .columns = 4608, .copies = 2, .units = 16, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 4608, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 36864, .columns = 4608, .copies = 2, .units = 36864, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 4608, .columns = 36864, .units = 36864, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 4608, .copies = 4, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 32, .query_dim = 128, .value_dim = 128, .key_value_heads = 16, .intermediate_size = 36864},
        {.stores = {{.kind = store_kind::full, .kv_heads = 16, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 4096, .columns = 4608, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 2048, .columns = 4608, .copies = 2, .units = 16, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 4608, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 36864, .columns = 4608, .copies = 2, .units = 36864, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 4608, .columns = 36864, .units = 36864, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 4608, .copies = 4, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 32, .query_dim = 128, .value_dim = 128, .key_value_heads = 16, .intermediate_size = 36864},
    }};

inline constexpr model_architecture gemma_3_1b{
    .name = "gemma-3-1b", .model_type = "gemma3_text", .dtype = formats::bf16, .hidden_size = 1152, .vocab_size = 262144, .max_position_embeddings = 32768, .num_hidden_layers = 26, .tie_word_embeddings = true, .kind_count = 2, .weight_count = 2, .layers_of = {22, 4},
    .order = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0},
    .weights = {
        {.rows = 262144, .columns = 1152, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 1152, .role = module_role::norm, .kind = tensor_kind::vector},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::sliding_window, .kv_heads = 1, .key_dim = 256, .value_dim = 256, .window = 512}},
         .weights = {
             {.rows = 1024, .columns = 1152, .units = 4, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 256, .columns = 1152, .copies = 2, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 1152, .columns = 1024, .units = 4, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 256, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
             {.rows = 6912, .columns = 1152, .copies = 2, .units = 6912, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 1152, .columns = 6912, .units = 6912, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 1152, .copies = 4, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 7, .gated_mlp = true, .num_attention_heads = 4, .query_dim = 256, .value_dim = 256, .key_value_heads = 1, .intermediate_size = 6912},
        {.stores = {{.kind = store_kind::full, .kv_heads = 1, .key_dim = 256, .value_dim = 256}},
         .weights = {
             {.rows = 1024, .columns = 1152, .units = 4, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 256, .columns = 1152, .copies = 2, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 1152, .columns = 1024, .units = 4, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 256, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
             {.rows = 6912, .columns = 1152, .copies = 2, .units = 6912, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 1152, .columns = 6912, .units = 6912, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 1152, .copies = 4, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 7, .gated_mlp = true, .num_attention_heads = 4, .query_dim = 256, .value_dim = 256, .key_value_heads = 1, .intermediate_size = 6912},
    }};

inline constexpr model_architecture gemma_3_4b{
    .name = "gemma-3-4b", .model_type = "gemma3", .dtype = formats::bf16, .hidden_size = 2560, .vocab_size = 262208, .max_position_embeddings = 131072, .num_hidden_layers = 34, .tie_word_embeddings = true, .kind_count = 2, .weight_count = 12, .layers_of = {29, 5},
    .order = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
    .weights = {
        {.rows = 262208, .columns = 2560, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 2560, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 1152, .columns = 588, .role = module_role::vision, .kind = tensor_kind::convolution},
        {.rows = 4096, .columns = 1152, .role = module_role::vision, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 1152, .columns = 1152, .copies = 81, .units = 16, .role = module_role::vision, .rule = shard_rule::tensor},
        {.rows = 1152, .columns = 1152, .copies = 27, .units = 16, .role = module_role::vision, .rule = shard_rule::tensor, .axis = shard_axis::columns},
        {.rows = 4304, .columns = 1152, .copies = 27, .units = 4304, .role = module_role::vision, .rule = shard_rule::tensor},
        {.rows = 1152, .columns = 4304, .copies = 27, .units = 4304, .role = module_role::vision, .rule = shard_rule::tensor, .axis = shard_axis::columns},
        {.rows = 1152, .copies = 81, .units = 16, .role = module_role::vision, .kind = tensor_kind::vector, .rule = shard_rule::tensor},
        {.rows = 4304, .copies = 27, .units = 4304, .role = module_role::vision, .kind = tensor_kind::vector, .rule = shard_rule::tensor},
        {.rows = 1152, .copies = 166, .role = module_role::vision, .kind = tensor_kind::vector},
        {.rows = 2560, .columns = 1152, .role = module_role::vision},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::sliding_window, .kv_heads = 4, .key_dim = 256, .value_dim = 256, .window = 1024}},
         .weights = {
             {.rows = 2048, .columns = 2560, .units = 8, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 2560, .copies = 2, .units = 4, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 2560, .columns = 2048, .units = 8, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 256, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
             {.rows = 10240, .columns = 2560, .copies = 2, .units = 10240, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 2560, .columns = 10240, .units = 10240, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 2560, .copies = 4, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 7, .gated_mlp = true, .num_attention_heads = 8, .query_dim = 256, .value_dim = 256, .key_value_heads = 4, .intermediate_size = 10240},
        {.stores = {{.kind = store_kind::full, .kv_heads = 4, .key_dim = 256, .value_dim = 256}},
         .weights = {
             {.rows = 2048, .columns = 2560, .units = 8, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 2560, .copies = 2, .units = 4, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 2560, .columns = 2048, .units = 8, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 256, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
             {.rows = 10240, .columns = 2560, .copies = 2, .units = 10240, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 2560, .columns = 10240, .units = 10240, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 2560, .copies = 4, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 7, .gated_mlp = true, .num_attention_heads = 8, .query_dim = 256, .value_dim = 256, .key_value_heads = 4, .intermediate_size = 10240},
    }};

inline constexpr model_architecture gemma_3_12b{
    .name = "gemma-3-12b", .model_type = "gemma3", .dtype = formats::bf16, .hidden_size = 3840, .vocab_size = 262208, .max_position_embeddings = 131072, .num_hidden_layers = 48, .tie_word_embeddings = true, .kind_count = 2, .weight_count = 12, .layers_of = {40, 8},
    .order = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1},
    .weights = {
        {.rows = 262208, .columns = 3840, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 3840, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 1152, .columns = 588, .role = module_role::vision, .kind = tensor_kind::convolution},
        {.rows = 4096, .columns = 1152, .role = module_role::vision, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 1152, .columns = 1152, .copies = 81, .units = 16, .role = module_role::vision, .rule = shard_rule::tensor},
        {.rows = 1152, .columns = 1152, .copies = 27, .units = 16, .role = module_role::vision, .rule = shard_rule::tensor, .axis = shard_axis::columns},
        {.rows = 4304, .columns = 1152, .copies = 27, .units = 4304, .role = module_role::vision, .rule = shard_rule::tensor},
        {.rows = 1152, .columns = 4304, .copies = 27, .units = 4304, .role = module_role::vision, .rule = shard_rule::tensor, .axis = shard_axis::columns},
        {.rows = 1152, .copies = 81, .units = 16, .role = module_role::vision, .kind = tensor_kind::vector, .rule = shard_rule::tensor},
        {.rows = 4304, .copies = 27, .units = 4304, .role = module_role::vision, .kind = tensor_kind::vector, .rule = shard_rule::tensor},
        {.rows = 1152, .copies = 166, .role = module_role::vision, .kind = tensor_kind::vector},
        {.rows = 3840, .columns = 1152, .role = module_role::vision},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::sliding_window, .kv_heads = 8, .key_dim = 256, .value_dim = 256, .window = 1024}},
         .weights = {
             {.rows = 4096, .columns = 3840, .units = 16, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 2048, .columns = 3840, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 3840, .columns = 4096, .units = 16, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 256, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
             {.rows = 15360, .columns = 3840, .copies = 2, .units = 15360, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 3840, .columns = 15360, .units = 15360, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 3840, .copies = 4, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 7, .gated_mlp = true, .num_attention_heads = 16, .query_dim = 256, .value_dim = 256, .key_value_heads = 8, .intermediate_size = 15360},
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 256, .value_dim = 256}},
         .weights = {
             {.rows = 4096, .columns = 3840, .units = 16, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 2048, .columns = 3840, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 3840, .columns = 4096, .units = 16, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 256, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
             {.rows = 15360, .columns = 3840, .copies = 2, .units = 15360, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 3840, .columns = 15360, .units = 15360, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 3840, .copies = 4, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 7, .gated_mlp = true, .num_attention_heads = 16, .query_dim = 256, .value_dim = 256, .key_value_heads = 8, .intermediate_size = 15360},
    }};

inline constexpr model_architecture gemma_3_27b{
    .name = "gemma-3-27b", .model_type = "gemma3", .dtype = formats::bf16, .hidden_size = 5376, .vocab_size = 262208, .max_position_embeddings = 131072, .num_hidden_layers = 62, .tie_word_embeddings = true, .kind_count = 2, .weight_count = 12, .layers_of = {52, 10},
    .order = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0},
    .weights = {
        {.rows = 262208, .columns = 5376, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 5376, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 1152, .columns = 588, .role = module_role::vision, .kind = tensor_kind::convolution},
        {.rows = 4096, .columns = 1152, .role = module_role::vision, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 1152, .columns = 1152, .copies = 81, .units = 16, .role = module_role::vision, .rule = shard_rule::tensor},
        {.rows = 1152, .columns = 1152, .copies = 27, .units = 16, .role = module_role::vision, .rule = shard_rule::tensor, .axis = shard_axis::columns},
        {.rows = 4304, .columns = 1152, .copies = 27, .units = 4304, .role = module_role::vision, .rule = shard_rule::tensor},
        {.rows = 1152, .columns = 4304, .copies = 27, .units = 4304, .role = module_role::vision, .rule = shard_rule::tensor, .axis = shard_axis::columns},
        {.rows = 1152, .copies = 81, .units = 16, .role = module_role::vision, .kind = tensor_kind::vector, .rule = shard_rule::tensor},
        {.rows = 4304, .copies = 27, .units = 4304, .role = module_role::vision, .kind = tensor_kind::vector, .rule = shard_rule::tensor},
        {.rows = 1152, .copies = 166, .role = module_role::vision, .kind = tensor_kind::vector},
        {.rows = 5376, .columns = 1152, .role = module_role::vision},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::sliding_window, .kv_heads = 16, .key_dim = 128, .value_dim = 128, .window = 1024}},
         .weights = {
             {.rows = 4096, .columns = 5376, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 2048, .columns = 5376, .copies = 2, .units = 16, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 5376, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 128, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
             {.rows = 21504, .columns = 5376, .copies = 2, .units = 21504, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 5376, .columns = 21504, .units = 21504, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 5376, .copies = 4, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 7, .gated_mlp = true, .num_attention_heads = 32, .query_dim = 128, .value_dim = 128, .key_value_heads = 16, .intermediate_size = 21504},
        {.stores = {{.kind = store_kind::full, .kv_heads = 16, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 4096, .columns = 5376, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 2048, .columns = 5376, .copies = 2, .units = 16, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 5376, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 128, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
             {.rows = 21504, .columns = 5376, .copies = 2, .units = 21504, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 5376, .columns = 21504, .units = 21504, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 5376, .copies = 4, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 7, .gated_mlp = true, .num_attention_heads = 32, .query_dim = 128, .value_dim = 128, .key_value_heads = 16, .intermediate_size = 21504},
    }};

inline constexpr model_architecture llama_2_7b{
    .name = "llama-2-7b", .model_type = "llama", .dtype = formats::fp16, .hidden_size = 4096, .vocab_size = 32000, .max_position_embeddings = 4096, .num_hidden_layers = 32, .kind_count = 1, .weight_count = 3, .layers_of = {32},
    .weights = {
        {.rows = 32000, .columns = 4096, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 4096, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 32000, .columns = 4096, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 32, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 4096, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 4096, .columns = 4096, .copies = 2, .units = 32, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 4096, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 11008, .columns = 4096, .copies = 2, .units = 11008, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 4096, .columns = 11008, .units = 11008, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 4096, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 32, .query_dim = 128, .value_dim = 128, .key_value_heads = 32, .intermediate_size = 11008},
    }};

inline constexpr model_architecture llama_2_13b{
    .name = "llama-2-13b", .model_type = "llama", .dtype = formats::fp16, .hidden_size = 5120, .vocab_size = 32000, .max_position_embeddings = 4096, .num_hidden_layers = 40, .kind_count = 1, .weight_count = 3, .layers_of = {40},
    .weights = {
        {.rows = 32000, .columns = 5120, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 5120, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 32000, .columns = 5120, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 40, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 5120, .columns = 5120, .units = 40, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 5120, .columns = 5120, .copies = 2, .units = 40, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 5120, .columns = 5120, .units = 40, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 13824, .columns = 5120, .copies = 2, .units = 13824, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 5120, .columns = 13824, .units = 13824, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 5120, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 40, .query_dim = 128, .value_dim = 128, .key_value_heads = 40, .intermediate_size = 13824},
    }};

inline constexpr model_architecture llama_2_70b{
    .name = "llama-2-70b", .model_type = "llama", .dtype = formats::fp16, .hidden_size = 8192, .vocab_size = 32000, .max_position_embeddings = 4096, .num_hidden_layers = 80, .kind_count = 1, .weight_count = 3, .layers_of = {80},
    .weights = {
        {.rows = 32000, .columns = 8192, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 8192, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 32000, .columns = 8192, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 8192, .columns = 8192, .units = 64, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 8192, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 8192, .columns = 8192, .units = 64, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 28672, .columns = 8192, .copies = 2, .units = 28672, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 8192, .columns = 28672, .units = 28672, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 8192, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 64, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 28672},
    }};

inline constexpr model_architecture llama_3_8b{
    .name = "llama-3-8b", .model_type = "llama", .dtype = formats::bf16, .hidden_size = 4096, .vocab_size = 128256, .max_position_embeddings = 8192, .num_hidden_layers = 32, .kind_count = 1, .weight_count = 3, .layers_of = {32},
    .weights = {
        {.rows = 128256, .columns = 4096, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 4096, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 128256, .columns = 4096, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 4096, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 4096, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 4096, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 14336, .columns = 4096, .copies = 2, .units = 14336, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 4096, .columns = 14336, .units = 14336, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 4096, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 32, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 14336},
    }};

inline constexpr model_architecture llama_3_70b{
    .name = "llama-3-70b", .model_type = "llama", .dtype = formats::bf16, .hidden_size = 8192, .vocab_size = 128256, .max_position_embeddings = 8192, .num_hidden_layers = 80, .kind_count = 1, .weight_count = 3, .layers_of = {80},
    .weights = {
        {.rows = 128256, .columns = 8192, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 8192, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 128256, .columns = 8192, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 8192, .columns = 8192, .units = 64, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 8192, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 8192, .columns = 8192, .units = 64, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 28672, .columns = 8192, .copies = 2, .units = 28672, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 8192, .columns = 28672, .units = 28672, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 8192, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 64, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 28672},
    }};

inline constexpr model_architecture llama_3_1_8b{
    .name = "llama-3.1-8b", .model_type = "llama", .dtype = formats::bf16, .hidden_size = 4096, .vocab_size = 128256, .max_position_embeddings = 131072, .num_hidden_layers = 32, .kind_count = 1, .weight_count = 3, .layers_of = {32},
    .weights = {
        {.rows = 128256, .columns = 4096, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 4096, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 128256, .columns = 4096, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 4096, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 4096, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 4096, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 14336, .columns = 4096, .copies = 2, .units = 14336, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 4096, .columns = 14336, .units = 14336, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 4096, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 32, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 14336},
    }};

inline constexpr model_architecture llama_3_1_70b{
    .name = "llama-3.1-70b", .model_type = "llama", .dtype = formats::bf16, .hidden_size = 8192, .vocab_size = 128256, .max_position_embeddings = 131072, .num_hidden_layers = 80, .kind_count = 1, .weight_count = 3, .layers_of = {80},
    .weights = {
        {.rows = 128256, .columns = 8192, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 8192, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 128256, .columns = 8192, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 8192, .columns = 8192, .units = 64, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 8192, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 8192, .columns = 8192, .units = 64, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 28672, .columns = 8192, .copies = 2, .units = 28672, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 8192, .columns = 28672, .units = 28672, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 8192, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 64, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 28672},
    }};

inline constexpr model_architecture llama_3_1_405b{
    .name = "llama-3.1-405b", .model_type = "llama", .dtype = formats::bf16, .hidden_size = 16384, .vocab_size = 128256, .max_position_embeddings = 131072, .num_hidden_layers = 126, .kind_count = 1, .weight_count = 3, .layers_of = {126},
    .weights = {
        {.rows = 128256, .columns = 16384, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 16384, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 128256, .columns = 16384, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 16384, .columns = 16384, .units = 128, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 16384, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 16384, .columns = 16384, .units = 128, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 53248, .columns = 16384, .copies = 2, .units = 53248, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 16384, .columns = 53248, .units = 53248, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 16384, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 128, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 53248},
    }};

inline constexpr model_architecture llama_3_2_1b{
    .name = "llama-3.2-1b", .model_type = "llama", .dtype = formats::bf16, .hidden_size = 2048, .vocab_size = 128256, .max_position_embeddings = 131072, .num_hidden_layers = 16, .tie_word_embeddings = true, .kind_count = 1, .weight_count = 2, .layers_of = {16},
    .weights = {
        {.rows = 128256, .columns = 2048, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 2048, .role = module_role::norm, .kind = tensor_kind::vector},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 64, .value_dim = 64}},
         .weights = {
             {.rows = 2048, .columns = 2048, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 512, .columns = 2048, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 2048, .columns = 2048, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 8192, .columns = 2048, .copies = 2, .units = 8192, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 2048, .columns = 8192, .units = 8192, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 2048, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 32, .query_dim = 64, .value_dim = 64, .key_value_heads = 8, .intermediate_size = 8192},
    }};

inline constexpr model_architecture llama_3_2_3b{
    .name = "llama-3.2-3b", .model_type = "llama", .dtype = formats::bf16, .hidden_size = 3072, .vocab_size = 128256, .max_position_embeddings = 131072, .num_hidden_layers = 28, .tie_word_embeddings = true, .kind_count = 1, .weight_count = 2, .layers_of = {28},
    .weights = {
        {.rows = 128256, .columns = 3072, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 3072, .role = module_role::norm, .kind = tensor_kind::vector},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 3072, .columns = 3072, .units = 24, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 3072, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 3072, .columns = 3072, .units = 24, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 8192, .columns = 3072, .copies = 2, .units = 8192, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 3072, .columns = 8192, .units = 8192, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 3072, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 24, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 8192},
    }};

inline constexpr model_architecture llama_3_3_70b{
    .name = "llama-3.3-70b", .model_type = "llama", .dtype = formats::bf16, .hidden_size = 8192, .vocab_size = 128256, .max_position_embeddings = 131072, .num_hidden_layers = 80, .kind_count = 1, .weight_count = 3, .layers_of = {80},
    .weights = {
        {.rows = 128256, .columns = 8192, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 8192, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 128256, .columns = 8192, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 8192, .columns = 8192, .units = 64, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 8192, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 8192, .columns = 8192, .units = 64, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 28672, .columns = 8192, .copies = 2, .units = 28672, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 8192, .columns = 28672, .units = 28672, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 8192, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 64, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 28672},
    }};

inline constexpr model_architecture mistral_7b_v0_1{
    .name = "mistral-7b-v0.1", .model_type = "mistral", .dtype = formats::bf16, .hidden_size = 4096, .vocab_size = 32000, .max_position_embeddings = 32768, .num_hidden_layers = 32, .kind_count = 1, .weight_count = 3, .layers_of = {32},
    .weights = {
        {.rows = 32000, .columns = 4096, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 4096, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 32000, .columns = 4096, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::sliding_window, .kv_heads = 8, .key_dim = 128, .value_dim = 128, .window = 4096}},
         .weights = {
             {.rows = 4096, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 4096, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 4096, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 14336, .columns = 4096, .copies = 2, .units = 14336, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 4096, .columns = 14336, .units = 14336, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 4096, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 32, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 14336},
    }};

inline constexpr model_architecture mistral_7b_v0_2{
    .name = "mistral-7b-v0.2", .model_type = "mistral", .dtype = formats::bf16, .hidden_size = 4096, .vocab_size = 32000, .max_position_embeddings = 32768, .num_hidden_layers = 32, .kind_count = 1, .weight_count = 3, .layers_of = {32},
    .weights = {
        {.rows = 32000, .columns = 4096, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 4096, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 32000, .columns = 4096, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 4096, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 4096, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 4096, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 14336, .columns = 4096, .copies = 2, .units = 14336, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 4096, .columns = 14336, .units = 14336, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 4096, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 32, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 14336},
    }};

inline constexpr model_architecture mistral_7b_v0_3{
    .name = "mistral-7b-v0.3", .model_type = "mistral", .dtype = formats::bf16, .hidden_size = 4096, .vocab_size = 32768, .max_position_embeddings = 32768, .num_hidden_layers = 32, .kind_count = 1, .weight_count = 3, .layers_of = {32},
    .weights = {
        {.rows = 32768, .columns = 4096, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 4096, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 32768, .columns = 4096, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 4096, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 4096, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 4096, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 14336, .columns = 4096, .copies = 2, .units = 14336, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 4096, .columns = 14336, .units = 14336, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 4096, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 32, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 14336},
    }};

inline constexpr model_architecture phi_4{
    .name = "phi-4", .model_type = "phi3", .dtype = formats::bf16, .hidden_size = 5120, .vocab_size = 100352, .max_position_embeddings = 16384, .num_hidden_layers = 40, .kind_count = 1, .weight_count = 3, .layers_of = {40},
    .weights = {
        {.rows = 100352, .columns = 5120, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 5120, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 100352, .columns = 5120, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 10, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 5120, .columns = 5120, .units = 40, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1280, .columns = 5120, .copies = 2, .units = 10, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 5120, .columns = 5120, .units = 40, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 17920, .columns = 5120, .copies = 2, .units = 17920, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 5120, .columns = 17920, .units = 17920, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 5120, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 40, .query_dim = 128, .value_dim = 128, .key_value_heads = 10, .intermediate_size = 17920},
    }};

inline constexpr model_architecture phi_4_mini{
    .name = "phi-4-mini", .model_type = "phi3", .dtype = formats::bf16, .hidden_size = 3072, .vocab_size = 200064, .max_position_embeddings = 131072, .num_hidden_layers = 32, .tie_word_embeddings = true, .kind_count = 1, .weight_count = 2, .layers_of = {32},
    .weights = {
        {.rows = 200064, .columns = 3072, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 3072, .role = module_role::norm, .kind = tensor_kind::vector},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::sliding_window, .kv_heads = 8, .key_dim = 128, .value_dim = 128, .window = 262144}},
         .weights = {
             {.rows = 3072, .columns = 3072, .units = 24, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 3072, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 3072, .columns = 3072, .units = 24, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 8192, .columns = 3072, .copies = 2, .units = 8192, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 3072, .columns = 8192, .units = 8192, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 3072, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 6, .gated_mlp = true, .num_attention_heads = 24, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 8192},
    }};

inline constexpr model_architecture qwen2_5_0_5b{
    .name = "qwen2.5-0.5b", .model_type = "qwen2", .dtype = formats::bf16, .hidden_size = 896, .vocab_size = 151936, .max_position_embeddings = 32768, .num_hidden_layers = 24, .tie_word_embeddings = true, .kind_count = 1, .weight_count = 2, .layers_of = {24},
    .weights = {
        {.rows = 151936, .columns = 896, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 896, .role = module_role::norm, .kind = tensor_kind::vector},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 2, .key_dim = 64, .value_dim = 64}},
         .weights = {
             {.rows = 896, .columns = 896, .units = 14, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 128, .columns = 896, .copies = 2, .units = 2, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 896, .columns = 896, .units = 14, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 896, .units = 14, .role = module_role::attention, .kind = tensor_kind::vector, .rule = shard_rule::tensor},
             {.rows = 128, .copies = 2, .units = 2, .role = module_role::attention, .kind = tensor_kind::vector, .rule = shard_rule::kv_heads},
             {.rows = 4864, .columns = 896, .copies = 2, .units = 4864, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 896, .columns = 4864, .units = 4864, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 896, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 8, .gated_mlp = true, .num_attention_heads = 14, .query_dim = 64, .value_dim = 64, .key_value_heads = 2, .intermediate_size = 4864},
    }};

inline constexpr model_architecture qwen2_5_1_5b{
    .name = "qwen2.5-1.5b", .model_type = "qwen2", .dtype = formats::bf16, .hidden_size = 1536, .vocab_size = 151936, .max_position_embeddings = 32768, .num_hidden_layers = 28, .tie_word_embeddings = true, .kind_count = 1, .weight_count = 2, .layers_of = {28},
    .weights = {
        {.rows = 151936, .columns = 1536, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 1536, .role = module_role::norm, .kind = tensor_kind::vector},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 2, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 1536, .columns = 1536, .units = 12, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 256, .columns = 1536, .copies = 2, .units = 2, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 1536, .columns = 1536, .units = 12, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 1536, .units = 12, .role = module_role::attention, .kind = tensor_kind::vector, .rule = shard_rule::tensor},
             {.rows = 256, .copies = 2, .units = 2, .role = module_role::attention, .kind = tensor_kind::vector, .rule = shard_rule::kv_heads},
             {.rows = 8960, .columns = 1536, .copies = 2, .units = 8960, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 1536, .columns = 8960, .units = 8960, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 1536, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 8, .gated_mlp = true, .num_attention_heads = 12, .query_dim = 128, .value_dim = 128, .key_value_heads = 2, .intermediate_size = 8960},
    }};

inline constexpr model_architecture qwen2_5_3b{
    .name = "qwen2.5-3b", .model_type = "qwen2", .dtype = formats::bf16, .hidden_size = 2048, .vocab_size = 151936, .max_position_embeddings = 32768, .num_hidden_layers = 36, .tie_word_embeddings = true, .kind_count = 1, .weight_count = 2, .layers_of = {36},
    .weights = {
        {.rows = 151936, .columns = 2048, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 2048, .role = module_role::norm, .kind = tensor_kind::vector},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 2, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 2048, .columns = 2048, .units = 16, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 256, .columns = 2048, .copies = 2, .units = 2, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 2048, .columns = 2048, .units = 16, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 2048, .units = 16, .role = module_role::attention, .kind = tensor_kind::vector, .rule = shard_rule::tensor},
             {.rows = 256, .copies = 2, .units = 2, .role = module_role::attention, .kind = tensor_kind::vector, .rule = shard_rule::kv_heads},
             {.rows = 11008, .columns = 2048, .copies = 2, .units = 11008, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 2048, .columns = 11008, .units = 11008, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 2048, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 8, .gated_mlp = true, .num_attention_heads = 16, .query_dim = 128, .value_dim = 128, .key_value_heads = 2, .intermediate_size = 11008},
    }};

inline constexpr model_architecture qwen2_5_7b{
    .name = "qwen2.5-7b", .model_type = "qwen2", .dtype = formats::bf16, .hidden_size = 3584, .vocab_size = 152064, .max_position_embeddings = 32768, .num_hidden_layers = 28, .kind_count = 1, .weight_count = 3, .layers_of = {28},
    .weights = {
        {.rows = 152064, .columns = 3584, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 3584, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 152064, .columns = 3584, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 4, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 3584, .columns = 3584, .units = 28, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 512, .columns = 3584, .copies = 2, .units = 4, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 3584, .columns = 3584, .units = 28, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 3584, .units = 28, .role = module_role::attention, .kind = tensor_kind::vector, .rule = shard_rule::tensor},
             {.rows = 512, .copies = 2, .units = 4, .role = module_role::attention, .kind = tensor_kind::vector, .rule = shard_rule::kv_heads},
             {.rows = 18944, .columns = 3584, .copies = 2, .units = 18944, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 3584, .columns = 18944, .units = 18944, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 3584, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 8, .gated_mlp = true, .num_attention_heads = 28, .query_dim = 128, .value_dim = 128, .key_value_heads = 4, .intermediate_size = 18944},
    }};

inline constexpr model_architecture qwen2_5_14b{
    .name = "qwen2.5-14b", .model_type = "qwen2", .dtype = formats::bf16, .hidden_size = 5120, .vocab_size = 152064, .max_position_embeddings = 32768, .num_hidden_layers = 48, .kind_count = 1, .weight_count = 3, .layers_of = {48},
    .weights = {
        {.rows = 152064, .columns = 5120, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 5120, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 152064, .columns = 5120, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 5120, .columns = 5120, .units = 40, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 5120, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 5120, .columns = 5120, .units = 40, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 5120, .units = 40, .role = module_role::attention, .kind = tensor_kind::vector, .rule = shard_rule::tensor},
             {.rows = 1024, .copies = 2, .units = 8, .role = module_role::attention, .kind = tensor_kind::vector, .rule = shard_rule::kv_heads},
             {.rows = 13824, .columns = 5120, .copies = 2, .units = 13824, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 5120, .columns = 13824, .units = 13824, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 5120, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 8, .gated_mlp = true, .num_attention_heads = 40, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 13824},
    }};

inline constexpr model_architecture qwen2_5_32b{
    .name = "qwen2.5-32b", .model_type = "qwen2", .dtype = formats::bf16, .hidden_size = 5120, .vocab_size = 152064, .max_position_embeddings = 32768, .num_hidden_layers = 64, .kind_count = 1, .weight_count = 3, .layers_of = {64},
    .weights = {
        {.rows = 152064, .columns = 5120, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 5120, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 152064, .columns = 5120, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 5120, .columns = 5120, .units = 40, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 5120, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 5120, .columns = 5120, .units = 40, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 5120, .units = 40, .role = module_role::attention, .kind = tensor_kind::vector, .rule = shard_rule::tensor},
             {.rows = 1024, .copies = 2, .units = 8, .role = module_role::attention, .kind = tensor_kind::vector, .rule = shard_rule::kv_heads},
             {.rows = 27648, .columns = 5120, .copies = 2, .units = 27648, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 5120, .columns = 27648, .units = 27648, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 5120, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 8, .gated_mlp = true, .num_attention_heads = 40, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 27648},
    }};

inline constexpr model_architecture qwen2_5_72b{
    .name = "qwen2.5-72b", .model_type = "qwen2", .dtype = formats::bf16, .hidden_size = 8192, .vocab_size = 152064, .max_position_embeddings = 32768, .num_hidden_layers = 80, .kind_count = 1, .weight_count = 3, .layers_of = {80},
    .weights = {
        {.rows = 152064, .columns = 8192, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 8192, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 152064, .columns = 8192, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 8192, .columns = 8192, .units = 64, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 8192, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 8192, .columns = 8192, .units = 64, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 8192, .units = 64, .role = module_role::attention, .kind = tensor_kind::vector, .rule = shard_rule::tensor},
             {.rows = 1024, .copies = 2, .units = 8, .role = module_role::attention, .kind = tensor_kind::vector, .rule = shard_rule::kv_heads},
             {.rows = 29568, .columns = 8192, .copies = 2, .units = 29568, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 8192, .columns = 29568, .units = 29568, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 8192, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 8, .gated_mlp = true, .num_attention_heads = 64, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 29568},
    }};

inline constexpr model_architecture qwen3_0_6b{
    .name = "qwen3-0.6b", .model_type = "qwen3", .dtype = formats::bf16, .hidden_size = 1024, .vocab_size = 151936, .max_position_embeddings = 40960, .num_hidden_layers = 28, .tie_word_embeddings = true, .kind_count = 1, .weight_count = 2, .layers_of = {28},
    .weights = {
        {.rows = 151936, .columns = 1024, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 1024, .role = module_role::norm, .kind = tensor_kind::vector},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 2048, .columns = 1024, .units = 16, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 1024, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 1024, .columns = 2048, .units = 16, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 128, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
             {.rows = 3072, .columns = 1024, .copies = 2, .units = 3072, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 3072, .units = 3072, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 1024, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 7, .gated_mlp = true, .num_attention_heads = 16, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 3072},
    }};

inline constexpr model_architecture qwen3_1_7b{
    .name = "qwen3-1.7b", .model_type = "qwen3", .dtype = formats::bf16, .hidden_size = 2048, .vocab_size = 151936, .max_position_embeddings = 40960, .num_hidden_layers = 28, .tie_word_embeddings = true, .kind_count = 1, .weight_count = 2, .layers_of = {28},
    .weights = {
        {.rows = 151936, .columns = 2048, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 2048, .role = module_role::norm, .kind = tensor_kind::vector},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 2048, .columns = 2048, .units = 16, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 2048, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 2048, .columns = 2048, .units = 16, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 128, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
             {.rows = 6144, .columns = 2048, .copies = 2, .units = 6144, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 2048, .columns = 6144, .units = 6144, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 2048, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 7, .gated_mlp = true, .num_attention_heads = 16, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 6144},
    }};

inline constexpr model_architecture qwen3_4b{
    .name = "qwen3-4b", .model_type = "qwen3", .dtype = formats::bf16, .hidden_size = 2560, .vocab_size = 151936, .max_position_embeddings = 40960, .num_hidden_layers = 36, .tie_word_embeddings = true, .kind_count = 1, .weight_count = 2, .layers_of = {36},
    .weights = {
        {.rows = 151936, .columns = 2560, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 2560, .role = module_role::norm, .kind = tensor_kind::vector},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 4096, .columns = 2560, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 2560, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 2560, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 128, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
             {.rows = 9728, .columns = 2560, .copies = 2, .units = 9728, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 2560, .columns = 9728, .units = 9728, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 2560, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 7, .gated_mlp = true, .num_attention_heads = 32, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 9728},
    }};

inline constexpr model_architecture qwen3_8b{
    .name = "qwen3-8b", .model_type = "qwen3", .dtype = formats::bf16, .hidden_size = 4096, .vocab_size = 151936, .max_position_embeddings = 40960, .num_hidden_layers = 36, .kind_count = 1, .weight_count = 3, .layers_of = {36},
    .weights = {
        {.rows = 151936, .columns = 4096, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 4096, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 151936, .columns = 4096, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 4096, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 4096, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 4096, .columns = 4096, .units = 32, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 128, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
             {.rows = 12288, .columns = 4096, .copies = 2, .units = 12288, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 4096, .columns = 12288, .units = 12288, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 4096, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 7, .gated_mlp = true, .num_attention_heads = 32, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 12288},
    }};

inline constexpr model_architecture qwen3_14b{
    .name = "qwen3-14b", .model_type = "qwen3", .dtype = formats::bf16, .hidden_size = 5120, .vocab_size = 151936, .max_position_embeddings = 40960, .num_hidden_layers = 40, .kind_count = 1, .weight_count = 3, .layers_of = {40},
    .weights = {
        {.rows = 151936, .columns = 5120, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 5120, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 151936, .columns = 5120, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 5120, .columns = 5120, .units = 40, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 5120, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 5120, .columns = 5120, .units = 40, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 128, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
             {.rows = 17408, .columns = 5120, .copies = 2, .units = 17408, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 5120, .columns = 17408, .units = 17408, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 5120, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 7, .gated_mlp = true, .num_attention_heads = 40, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 17408},
    }};

inline constexpr model_architecture qwen3_32b{
    .name = "qwen3-32b", .model_type = "qwen3", .dtype = formats::bf16, .hidden_size = 5120, .vocab_size = 151936, .max_position_embeddings = 40960, .num_hidden_layers = 64, .kind_count = 1, .weight_count = 3, .layers_of = {64},
    .weights = {
        {.rows = 151936, .columns = 5120, .role = module_role::embedding, .kind = tensor_kind::table, .rule = shard_rule::vocabulary},
        {.rows = 5120, .role = module_role::norm, .kind = tensor_kind::vector},
        {.rows = 151936, .columns = 5120, .role = module_role::lm_head, .rule = shard_rule::vocabulary},
    },
    .kinds = {
        {.stores = {{.kind = store_kind::full, .kv_heads = 8, .key_dim = 128, .value_dim = 128}},
         .weights = {
             {.rows = 8192, .columns = 5120, .units = 64, .role = module_role::attention, .rule = shard_rule::tensor},
             {.rows = 1024, .columns = 5120, .copies = 2, .units = 8, .role = module_role::attention, .rule = shard_rule::kv_heads},
             {.rows = 5120, .columns = 8192, .units = 64, .role = module_role::attention, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 128, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
             {.rows = 25600, .columns = 5120, .copies = 2, .units = 25600, .role = module_role::mlp, .rule = shard_rule::tensor},
             {.rows = 5120, .columns = 25600, .units = 25600, .role = module_role::mlp, .rule = shard_rule::tensor, .axis = shard_axis::columns},
             {.rows = 5120, .copies = 2, .role = module_role::norm, .kind = tensor_kind::vector},
         },
         .store_count = 1, .weight_count = 7, .gated_mlp = true, .num_attention_heads = 64, .query_dim = 128, .value_dim = 128, .key_value_heads = 8, .intermediate_size = 25600},
    }};

/// All models, by name.
inline constexpr const model_architecture* all[] = {
    &article_70b_mha,
    &gemma_2_2b,
    &gemma_2_9b,
    &gemma_2_27b,
    &gemma_3_1b,
    &gemma_3_4b,
    &gemma_3_12b,
    &gemma_3_27b,
    &llama_2_7b,
    &llama_2_13b,
    &llama_2_70b,
    &llama_3_8b,
    &llama_3_70b,
    &llama_3_1_8b,
    &llama_3_1_70b,
    &llama_3_1_405b,
    &llama_3_2_1b,
    &llama_3_2_3b,
    &llama_3_3_70b,
    &mistral_7b_v0_1,
    &mistral_7b_v0_2,
    &mistral_7b_v0_3,
    &phi_4,
    &phi_4_mini,
    &qwen2_5_0_5b,
    &qwen2_5_1_5b,
    &qwen2_5_3b,
    &qwen2_5_7b,
    &qwen2_5_14b,
    &qwen2_5_32b,
    &qwen2_5_72b,
    &qwen3_0_6b,
    &qwen3_1_7b,
    &qwen3_4b,
    &qwen3_8b,
    &qwen3_14b,
    &qwen3_32b,
};

/// Every name that means a model.
inline constexpr model_name names[] = {
    {"article-70b-mha", &article_70b_mha},
    {"article-70b", &article_70b_mha},
    {"gemma-2-2b", &gemma_2_2b},
    {"gemma2-2b", &gemma_2_2b},
    {"google/gemma-2-2b", &gemma_2_2b},
    {"google/gemma-2-2b-it", &gemma_2_2b},
    {"gemma-2-9b", &gemma_2_9b},
    {"gemma2-9b", &gemma_2_9b},
    {"google/gemma-2-9b", &gemma_2_9b},
    {"google/gemma-2-9b-it", &gemma_2_9b},
    {"gemma-2-27b", &gemma_2_27b},
    {"gemma2-27b", &gemma_2_27b},
    {"google/gemma-2-27b", &gemma_2_27b},
    {"google/gemma-2-27b-it", &gemma_2_27b},
    {"gemma-3-1b", &gemma_3_1b},
    {"gemma3-1b", &gemma_3_1b},
    {"google/gemma-3-1b-it", &gemma_3_1b},
    {"google/gemma-3-1b-pt", &gemma_3_1b},
    {"gemma-3-4b", &gemma_3_4b},
    {"gemma3-4b", &gemma_3_4b},
    {"google/gemma-3-4b-it", &gemma_3_4b},
    {"google/gemma-3-4b-pt", &gemma_3_4b},
    {"gemma-3-12b", &gemma_3_12b},
    {"gemma3-12b", &gemma_3_12b},
    {"google/gemma-3-12b-it", &gemma_3_12b},
    {"google/gemma-3-12b-pt", &gemma_3_12b},
    {"gemma-3-27b", &gemma_3_27b},
    {"gemma3-27b", &gemma_3_27b},
    {"google/gemma-3-27b-it", &gemma_3_27b},
    {"google/gemma-3-27b-pt", &gemma_3_27b},
    {"llama-2-7b", &llama_2_7b},
    {"llama2-7b", &llama_2_7b},
    {"meta-llama/Llama-2-7b-hf", &llama_2_7b},
    {"meta-llama/Llama-2-7b-chat-hf", &llama_2_7b},
    {"llama-2-13b", &llama_2_13b},
    {"llama2-13b", &llama_2_13b},
    {"meta-llama/Llama-2-13b-hf", &llama_2_13b},
    {"meta-llama/Llama-2-13b-chat-hf", &llama_2_13b},
    {"llama-2-70b", &llama_2_70b},
    {"llama2-70b", &llama_2_70b},
    {"meta-llama/Llama-2-70b-hf", &llama_2_70b},
    {"meta-llama/Llama-2-70b-chat-hf", &llama_2_70b},
    {"llama-3-8b", &llama_3_8b},
    {"llama3-8b", &llama_3_8b},
    {"meta-llama/Meta-Llama-3-8B", &llama_3_8b},
    {"meta-llama/Meta-Llama-3-8B-Instruct", &llama_3_8b},
    {"llama-3-70b", &llama_3_70b},
    {"llama3-70b", &llama_3_70b},
    {"meta-llama/Meta-Llama-3-70B", &llama_3_70b},
    {"meta-llama/Meta-Llama-3-70B-Instruct", &llama_3_70b},
    {"llama-3.1-8b", &llama_3_1_8b},
    {"llama3.1-8b", &llama_3_1_8b},
    {"meta-llama/Llama-3.1-8B", &llama_3_1_8b},
    {"meta-llama/Llama-3.1-8B-Instruct", &llama_3_1_8b},
    {"meta-llama/Meta-Llama-3.1-8B", &llama_3_1_8b},
    {"meta-llama/Meta-Llama-3.1-8B-Instruct", &llama_3_1_8b},
    {"llama-3.1-70b", &llama_3_1_70b},
    {"llama3.1-70b", &llama_3_1_70b},
    {"meta-llama/Llama-3.1-70B", &llama_3_1_70b},
    {"meta-llama/Llama-3.1-70B-Instruct", &llama_3_1_70b},
    {"meta-llama/Meta-Llama-3.1-70B", &llama_3_1_70b},
    {"meta-llama/Meta-Llama-3.1-70B-Instruct", &llama_3_1_70b},
    {"llama-3.1-405b", &llama_3_1_405b},
    {"llama3.1-405b", &llama_3_1_405b},
    {"meta-llama/Llama-3.1-405B", &llama_3_1_405b},
    {"meta-llama/Llama-3.1-405B-Instruct", &llama_3_1_405b},
    {"meta-llama/Meta-Llama-3.1-405B", &llama_3_1_405b},
    {"meta-llama/Meta-Llama-3.1-405B-Instruct", &llama_3_1_405b},
    {"llama-3.2-1b", &llama_3_2_1b},
    {"llama3.2-1b", &llama_3_2_1b},
    {"meta-llama/Llama-3.2-1B", &llama_3_2_1b},
    {"meta-llama/Llama-3.2-1B-Instruct", &llama_3_2_1b},
    {"llama-3.2-3b", &llama_3_2_3b},
    {"llama3.2-3b", &llama_3_2_3b},
    {"meta-llama/Llama-3.2-3B", &llama_3_2_3b},
    {"meta-llama/Llama-3.2-3B-Instruct", &llama_3_2_3b},
    {"llama-3.3-70b", &llama_3_3_70b},
    {"llama3.3-70b", &llama_3_3_70b},
    {"meta-llama/Llama-3.3-70B-Instruct", &llama_3_3_70b},
    {"mistral-7b-v0.1", &mistral_7b_v0_1},
    {"mistralai/Mistral-7B-v0.1", &mistral_7b_v0_1},
    {"mistralai/Mistral-7B-Instruct-v0.1", &mistral_7b_v0_1},
    {"mistral-7b-v0.2", &mistral_7b_v0_2},
    {"mistralai/Mistral-7B-Instruct-v0.2", &mistral_7b_v0_2},
    {"mistral-7b-v0.3", &mistral_7b_v0_3},
    {"mistralai/Mistral-7B-v0.3", &mistral_7b_v0_3},
    {"mistralai/Mistral-7B-Instruct-v0.3", &mistral_7b_v0_3},
    {"phi-4", &phi_4},
    {"phi-4-14b", &phi_4},
    {"microsoft/phi-4", &phi_4},
    {"phi-4-mini", &phi_4_mini},
    {"phi-4-mini-3.8b", &phi_4_mini},
    {"microsoft/Phi-4-mini-instruct", &phi_4_mini},
    {"qwen2.5-0.5b", &qwen2_5_0_5b},
    {"Qwen/Qwen2.5-0.5B", &qwen2_5_0_5b},
    {"Qwen/Qwen2.5-0.5B-Instruct", &qwen2_5_0_5b},
    {"qwen2.5-1.5b", &qwen2_5_1_5b},
    {"Qwen/Qwen2.5-1.5B", &qwen2_5_1_5b},
    {"Qwen/Qwen2.5-1.5B-Instruct", &qwen2_5_1_5b},
    {"qwen2.5-3b", &qwen2_5_3b},
    {"Qwen/Qwen2.5-3B", &qwen2_5_3b},
    {"Qwen/Qwen2.5-3B-Instruct", &qwen2_5_3b},
    {"qwen2.5-7b", &qwen2_5_7b},
    {"Qwen/Qwen2.5-7B", &qwen2_5_7b},
    {"Qwen/Qwen2.5-7B-Instruct", &qwen2_5_7b},
    {"qwen2.5-14b", &qwen2_5_14b},
    {"Qwen/Qwen2.5-14B", &qwen2_5_14b},
    {"Qwen/Qwen2.5-14B-Instruct", &qwen2_5_14b},
    {"qwen2.5-32b", &qwen2_5_32b},
    {"Qwen/Qwen2.5-32B", &qwen2_5_32b},
    {"Qwen/Qwen2.5-32B-Instruct", &qwen2_5_32b},
    {"qwen2.5-72b", &qwen2_5_72b},
    {"Qwen/Qwen2.5-72B", &qwen2_5_72b},
    {"Qwen/Qwen2.5-72B-Instruct", &qwen2_5_72b},
    {"qwen3-0.6b", &qwen3_0_6b},
    {"Qwen/Qwen3-0.6B", &qwen3_0_6b},
    {"Qwen/Qwen3-0.6B-Base", &qwen3_0_6b},
    {"qwen3-1.7b", &qwen3_1_7b},
    {"Qwen/Qwen3-1.7B", &qwen3_1_7b},
    {"Qwen/Qwen3-1.7B-Base", &qwen3_1_7b},
    {"qwen3-4b", &qwen3_4b},
    {"Qwen/Qwen3-4B", &qwen3_4b},
    {"Qwen/Qwen3-4B-Base", &qwen3_4b},
    {"qwen3-8b", &qwen3_8b},
    {"Qwen/Qwen3-8B", &qwen3_8b},
    {"Qwen/Qwen3-8B-Base", &qwen3_8b},
    {"qwen3-14b", &qwen3_14b},
    {"Qwen/Qwen3-14B", &qwen3_14b},
    {"Qwen/Qwen3-14B-Base", &qwen3_14b},
    {"qwen3-32b", &qwen3_32b},
    {"Qwen/Qwen3-32B", &qwen3_32b},
};

/// The same names as `find` compares them, with and without their organisation, sorted.
inline constexpr model_name keys[] = {
    {"article70b", &article_70b_mha},
    {"article70bmha", &article_70b_mha},
    {"gemma227b", &gemma_2_27b},
    {"gemma227bit", &gemma_2_27b},
    {"gemma22b", &gemma_2_2b},
    {"gemma22bit", &gemma_2_2b},
    {"gemma29b", &gemma_2_9b},
    {"gemma29bit", &gemma_2_9b},
    {"gemma312b", &gemma_3_12b},
    {"gemma312bit", &gemma_3_12b},
    {"gemma312bpt", &gemma_3_12b},
    {"gemma31b", &gemma_3_1b},
    {"gemma31bit", &gemma_3_1b},
    {"gemma31bpt", &gemma_3_1b},
    {"gemma327b", &gemma_3_27b},
    {"gemma327bit", &gemma_3_27b},
    {"gemma327bpt", &gemma_3_27b},
    {"gemma34b", &gemma_3_4b},
    {"gemma34bit", &gemma_3_4b},
    {"gemma34bpt", &gemma_3_4b},
    {"google/gemma227b", &gemma_2_27b},
    {"google/gemma227bit", &gemma_2_27b},
    {"google/gemma22b", &gemma_2_2b},
    {"google/gemma22bit", &gemma_2_2b},
    {"google/gemma29b", &gemma_2_9b},
    {"google/gemma29bit", &gemma_2_9b},
    {"google/gemma312bit", &gemma_3_12b},
    {"google/gemma312bpt", &gemma_3_12b},
    {"google/gemma31bit", &gemma_3_1b},
    {"google/gemma31bpt", &gemma_3_1b},
    {"google/gemma327bit", &gemma_3_27b},
    {"google/gemma327bpt", &gemma_3_27b},
    {"google/gemma34bit", &gemma_3_4b},
    {"google/gemma34bpt", &gemma_3_4b},
    {"llama213b", &llama_2_13b},
    {"llama213bchathf", &llama_2_13b},
    {"llama213bhf", &llama_2_13b},
    {"llama270b", &llama_2_70b},
    {"llama270bchathf", &llama_2_70b},
    {"llama270bhf", &llama_2_70b},
    {"llama27b", &llama_2_7b},
    {"llama27bchathf", &llama_2_7b},
    {"llama27bhf", &llama_2_7b},
    {"llama3.1405b", &llama_3_1_405b},
    {"llama3.1405binstruct", &llama_3_1_405b},
    {"llama3.170b", &llama_3_1_70b},
    {"llama3.170binstruct", &llama_3_1_70b},
    {"llama3.18b", &llama_3_1_8b},
    {"llama3.18binstruct", &llama_3_1_8b},
    {"llama3.21b", &llama_3_2_1b},
    {"llama3.21binstruct", &llama_3_2_1b},
    {"llama3.23b", &llama_3_2_3b},
    {"llama3.23binstruct", &llama_3_2_3b},
    {"llama3.370b", &llama_3_3_70b},
    {"llama3.370binstruct", &llama_3_3_70b},
    {"llama370b", &llama_3_70b},
    {"llama38b", &llama_3_8b},
    {"metallama/llama213bchathf", &llama_2_13b},
    {"metallama/llama213bhf", &llama_2_13b},
    {"metallama/llama270bchathf", &llama_2_70b},
    {"metallama/llama270bhf", &llama_2_70b},
    {"metallama/llama27bchathf", &llama_2_7b},
    {"metallama/llama27bhf", &llama_2_7b},
    {"metallama/llama3.1405b", &llama_3_1_405b},
    {"metallama/llama3.1405binstruct", &llama_3_1_405b},
    {"metallama/llama3.170b", &llama_3_1_70b},
    {"metallama/llama3.170binstruct", &llama_3_1_70b},
    {"metallama/llama3.18b", &llama_3_1_8b},
    {"metallama/llama3.18binstruct", &llama_3_1_8b},
    {"metallama/llama3.21b", &llama_3_2_1b},
    {"metallama/llama3.21binstruct", &llama_3_2_1b},
    {"metallama/llama3.23b", &llama_3_2_3b},
    {"metallama/llama3.23binstruct", &llama_3_2_3b},
    {"metallama/llama3.370binstruct", &llama_3_3_70b},
    {"metallama/metallama3.1405b", &llama_3_1_405b},
    {"metallama/metallama3.1405binstruct", &llama_3_1_405b},
    {"metallama/metallama3.170b", &llama_3_1_70b},
    {"metallama/metallama3.170binstruct", &llama_3_1_70b},
    {"metallama/metallama3.18b", &llama_3_1_8b},
    {"metallama/metallama3.18binstruct", &llama_3_1_8b},
    {"metallama/metallama370b", &llama_3_70b},
    {"metallama/metallama370binstruct", &llama_3_70b},
    {"metallama/metallama38b", &llama_3_8b},
    {"metallama/metallama38binstruct", &llama_3_8b},
    {"metallama3.1405b", &llama_3_1_405b},
    {"metallama3.1405binstruct", &llama_3_1_405b},
    {"metallama3.170b", &llama_3_1_70b},
    {"metallama3.170binstruct", &llama_3_1_70b},
    {"metallama3.18b", &llama_3_1_8b},
    {"metallama3.18binstruct", &llama_3_1_8b},
    {"metallama370b", &llama_3_70b},
    {"metallama370binstruct", &llama_3_70b},
    {"metallama38b", &llama_3_8b},
    {"metallama38binstruct", &llama_3_8b},
    {"microsoft/phi4", &phi_4},
    {"microsoft/phi4miniinstruct", &phi_4_mini},
    {"mistral7binstructv0.1", &mistral_7b_v0_1},
    {"mistral7binstructv0.2", &mistral_7b_v0_2},
    {"mistral7binstructv0.3", &mistral_7b_v0_3},
    {"mistral7bv0.1", &mistral_7b_v0_1},
    {"mistral7bv0.2", &mistral_7b_v0_2},
    {"mistral7bv0.3", &mistral_7b_v0_3},
    {"mistralai/mistral7binstructv0.1", &mistral_7b_v0_1},
    {"mistralai/mistral7binstructv0.2", &mistral_7b_v0_2},
    {"mistralai/mistral7binstructv0.3", &mistral_7b_v0_3},
    {"mistralai/mistral7bv0.1", &mistral_7b_v0_1},
    {"mistralai/mistral7bv0.3", &mistral_7b_v0_3},
    {"phi4", &phi_4},
    {"phi414b", &phi_4},
    {"phi4mini", &phi_4_mini},
    {"phi4mini3.8b", &phi_4_mini},
    {"phi4miniinstruct", &phi_4_mini},
    {"qwen/qwen2.50.5b", &qwen2_5_0_5b},
    {"qwen/qwen2.50.5binstruct", &qwen2_5_0_5b},
    {"qwen/qwen2.51.5b", &qwen2_5_1_5b},
    {"qwen/qwen2.51.5binstruct", &qwen2_5_1_5b},
    {"qwen/qwen2.514b", &qwen2_5_14b},
    {"qwen/qwen2.514binstruct", &qwen2_5_14b},
    {"qwen/qwen2.532b", &qwen2_5_32b},
    {"qwen/qwen2.532binstruct", &qwen2_5_32b},
    {"qwen/qwen2.53b", &qwen2_5_3b},
    {"qwen/qwen2.53binstruct", &qwen2_5_3b},
    {"qwen/qwen2.572b", &qwen2_5_72b},
    {"qwen/qwen2.572binstruct", &qwen2_5_72b},
    {"qwen/qwen2.57b", &qwen2_5_7b},
    {"qwen/qwen2.57binstruct", &qwen2_5_7b},
    {"qwen/qwen30.6b", &qwen3_0_6b},
    {"qwen/qwen30.6bbase", &qwen3_0_6b},
    {"qwen/qwen31.7b", &qwen3_1_7b},
    {"qwen/qwen31.7bbase", &qwen3_1_7b},
    {"qwen/qwen314b", &qwen3_14b},
    {"qwen/qwen314bbase", &qwen3_14b},
    {"qwen/qwen332b", &qwen3_32b},
    {"qwen/qwen34b", &qwen3_4b},
    {"qwen/qwen34bbase", &qwen3_4b},
    {"qwen/qwen38b", &qwen3_8b},
    {"qwen/qwen38bbase", &qwen3_8b},
    {"qwen2.50.5b", &qwen2_5_0_5b},
    {"qwen2.50.5binstruct", &qwen2_5_0_5b},
    {"qwen2.51.5b", &qwen2_5_1_5b},
    {"qwen2.51.5binstruct", &qwen2_5_1_5b},
    {"qwen2.514b", &qwen2_5_14b},
    {"qwen2.514binstruct", &qwen2_5_14b},
    {"qwen2.532b", &qwen2_5_32b},
    {"qwen2.532binstruct", &qwen2_5_32b},
    {"qwen2.53b", &qwen2_5_3b},
    {"qwen2.53binstruct", &qwen2_5_3b},
    {"qwen2.572b", &qwen2_5_72b},
    {"qwen2.572binstruct", &qwen2_5_72b},
    {"qwen2.57b", &qwen2_5_7b},
    {"qwen2.57binstruct", &qwen2_5_7b},
    {"qwen30.6b", &qwen3_0_6b},
    {"qwen30.6bbase", &qwen3_0_6b},
    {"qwen31.7b", &qwen3_1_7b},
    {"qwen31.7bbase", &qwen3_1_7b},
    {"qwen314b", &qwen3_14b},
    {"qwen314bbase", &qwen3_14b},
    {"qwen332b", &qwen3_32b},
    {"qwen34b", &qwen3_4b},
    {"qwen34bbase", &qwen3_4b},
    {"qwen38b", &qwen3_8b},
    {"qwen38bbase", &qwen3_8b},
};
// clang-format on

/// The model that a short name, an alias or a Hugging Face name means; letter case, `-`, `_` and the
/// organisation do not matter. Null if none: `nearest` has suggestions. Usable in constant expressions.
[[nodiscard]] constexpr const model_architecture* find(const char* name) {
  return detail::find_model(keys, name);
}

/// The models that an unknown name may have meant: those with all of its words, else those spelt like it.
[[nodiscard]] constexpr model_suggestions nearest(const char* name) {
  return detail::nearest_models(names, name);
}

}  // namespace kvbudget::inline v0::models
