#pragma once

// Generated from data/gpus/*.json by `cmake -P cmake/generate_gpus.cmake`. Do not edit.

#include "kvbudget/hardware/gpu_profile.hpp"

// clang-format off
namespace kvbudget::inline v0 {

/// The GPU catalogue: one constant per file of data/gpus, where each figure has its source.
namespace gpus {

inline constexpr gpu_profile amd_mi100_32gb{.id = "amd-mi100-32gb", .name = "AMD Instinct MI100", .vendor = gpu_vendor::amd, .architecture = "CDNA", .compute_capability = "gfx908", .nominal_bytes = 32000000000, .bandwidth_bytes_per_second = 1229000000000, .bf16_dense_flops = 184600000000000, .fp8 = native_support::emulated};
inline constexpr gpu_profile amd_mi210_64gb{.id = "amd-mi210-64gb", .name = "AMD Instinct MI210", .vendor = gpu_vendor::amd, .architecture = "CDNA2", .compute_capability = "gfx90a", .nominal_bytes = 64000000000, .runtime_total_bytes = 68698001900, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 1638000000000, .bf16_dense_flops = 181000000000000, .fp8 = native_support::emulated};
inline constexpr gpu_profile amd_mi250x_gcd_64gb{.id = "amd-mi250x-gcd-64gb", .name = "AMD Instinct MI250X (one GCD)", .vendor = gpu_vendor::amd, .architecture = "CDNA2", .compute_capability = "gfx90a", .nominal_bytes = 64000000000, .runtime_total_bytes = 68698001900, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 1638500000000, .bf16_dense_flops = 191500000000000, .fp8 = native_support::emulated};
inline constexpr gpu_profile amd_mi300a_128gb{.id = "amd-mi300a-128gb", .name = "AMD Instinct MI300A", .vendor = gpu_vendor::amd, .architecture = "CDNA3", .compute_capability = "gfx942", .nominal_bytes = 128000000000, .fp8 = native_support::native, .unified_memory = true};
inline constexpr gpu_profile amd_mi300x_192gb{.id = "amd-mi300x-192gb", .name = "AMD Instinct MI300X", .vendor = gpu_vendor::amd, .architecture = "CDNA3", .compute_capability = "gfx942", .nominal_bytes = 192000000000, .driver_total_bytes = 206141652992, .runtime_total_bytes = 205825570243, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 5300000000000, .bf16_dense_flops = 1307400000000000, .fp8_dense_flops = 2614900000000000, .fp8 = native_support::native};
inline constexpr gpu_profile amd_mi325x_256gb{.id = "amd-mi325x-256gb", .name = "AMD Instinct MI325X", .vendor = gpu_vendor::amd, .architecture = "CDNA3", .compute_capability = "gfx942", .nominal_bytes = 256000000000, .bandwidth_bytes_per_second = 6000000000000, .bf16_dense_flops = 1307000000000000, .fp8 = native_support::native};
inline constexpr gpu_profile amd_mi350x_288gb{.id = "amd-mi350x-288gb", .name = "AMD Instinct MI350X", .vendor = gpu_vendor::amd, .architecture = "CDNA4", .compute_capability = "gfx950", .nominal_bytes = 288000000000, .runtime_total_bytes = 309216170476, .runtime_total_rounding_bytes = 5368709, .fp8 = native_support::native, .fp4 = native_support::native};
inline constexpr gpu_profile amd_mi355x_288gb{.id = "amd-mi355x-288gb", .name = "AMD Instinct MI355X", .vendor = gpu_vendor::amd, .architecture = "CDNA4", .compute_capability = "gfx950", .nominal_bytes = 288000000000, .runtime_total_bytes = 309216170476, .runtime_total_rounding_bytes = 5368709, .fp8 = native_support::native, .fp4 = native_support::native};
inline constexpr gpu_profile amd_radeon_ai_pro_r9700_32gb{.id = "amd-radeon-ai-pro-r9700-32gb", .name = "AMD Radeon AI PRO R9700", .vendor = gpu_vendor::amd, .architecture = "RDNA4", .compute_capability = "gfx1201", .nominal_bytes = 32000000000, .bf16_dense_flops = 95700000000000};
inline constexpr gpu_profile amd_radeon_pro_w7900_48gb{.id = "amd-radeon-pro-w7900-48gb", .name = "AMD Radeon PRO W7900", .vendor = gpu_vendor::amd, .architecture = "RDNA3", .compute_capability = "gfx1100", .nominal_bytes = 48000000000, .runtime_total_bytes = 48296907244, .runtime_total_rounding_bytes = 5368709, .bf16_dense_flops = 122600000000000, .fp8 = native_support::emulated};
inline constexpr gpu_profile amd_rx_7900_xt_20gb{.id = "amd-rx-7900-xt-20gb", .name = "AMD Radeon RX 7900 XT", .vendor = gpu_vendor::amd, .architecture = "RDNA3", .compute_capability = "gfx1100", .nominal_bytes = 20000000000, .runtime_total_bytes = 21453361644, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 800000000000, .bf16_dense_flops = 103000000000000, .fp8 = native_support::emulated};
inline constexpr gpu_profile amd_rx_7900_xtx_24gb{.id = "amd-rx-7900-xtx-24gb", .name = "AMD Radeon RX 7900 XTX", .vendor = gpu_vendor::amd, .architecture = "RDNA3", .compute_capability = "gfx1100", .nominal_bytes = 24000000000, .bandwidth_bytes_per_second = 960000000000, .bf16_dense_flops = 122800000000000, .fp8 = native_support::emulated};
inline constexpr gpu_profile apple_m1_max_32gb{.id = "apple-m1-max-32gb", .name = "Apple M1 Max (32 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 22906488136, .runtime_total_rounding_bytes = 5243, .ram_bytes = 34359738368, .bandwidth_bytes_per_second = 400000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m1_max_64gb{.id = "apple-m1-max-64gb", .name = "Apple M1 Max (64 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 51539610000, .runtime_total_rounding_bytes = 5000, .ram_bytes = 68719476736, .bandwidth_bytes_per_second = 400000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m1_pro_16gb{.id = "apple-m1-pro-16gb", .name = "Apple M1 Pro (16 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 11453250000, .runtime_total_rounding_bytes = 5000, .ram_bytes = 17179869184, .bandwidth_bytes_per_second = 200000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m1_pro_32gb{.id = "apple-m1-pro-32gb", .name = "Apple M1 Pro (32 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 26800595927, .runtime_total_rounding_bytes = 2863311530, .ram_bytes = 34359738368, .bandwidth_bytes_per_second = 200000000000, .unified_memory = true, .working_set_assumed = true};
inline constexpr gpu_profile apple_m1_ultra_128gb{.id = "apple-m1-ultra-128gb", .name = "Apple M1 Ultra (128 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 103079215104, .runtime_total_rounding_bytes = 11453246122, .ram_bytes = 137438953472, .bandwidth_bytes_per_second = 800000000000, .unified_memory = true, .working_set_assumed = true};
inline constexpr gpu_profile apple_m1_ultra_64gb{.id = "apple-m1-ultra-64gb", .name = "Apple M1 Ultra (64 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 51539607552, .runtime_total_rounding_bytes = 5726623061, .ram_bytes = 68719476736, .bandwidth_bytes_per_second = 800000000000, .unified_memory = true, .working_set_assumed = true};
inline constexpr gpu_profile apple_m2_max_32gb{.id = "apple-m2-max-32gb", .name = "Apple M2 Max (32 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 22906488136, .runtime_total_rounding_bytes = 5243, .ram_bytes = 34359738368, .bandwidth_bytes_per_second = 400000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m2_max_64gb{.id = "apple-m2-max-64gb", .name = "Apple M2 Max (64 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 51539610000, .runtime_total_rounding_bytes = 5000, .ram_bytes = 68719476736, .bandwidth_bytes_per_second = 400000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m2_max_96gb{.id = "apple-m2-max-96gb", .name = "Apple M2 Max (96 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 77309411328, .runtime_total_rounding_bytes = 5243, .ram_bytes = 103079215104, .bandwidth_bytes_per_second = 400000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m2_ultra_128gb{.id = "apple-m2-ultra-128gb", .name = "Apple M2 Ultra (128 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 103079215104, .runtime_total_rounding_bytes = 11453246122, .ram_bytes = 137438953472, .bandwidth_bytes_per_second = 800000000000, .unified_memory = true, .working_set_assumed = true};
inline constexpr gpu_profile apple_m2_ultra_192gb{.id = "apple-m2-ultra-192gb", .name = "Apple M2 Ultra (192 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 154618822656, .runtime_total_rounding_bytes = 536870912, .ram_bytes = 206158430208, .bandwidth_bytes_per_second = 800000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m2_ultra_64gb{.id = "apple-m2-ultra-64gb", .name = "Apple M2 Ultra (64 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 51539607552, .runtime_total_rounding_bytes = 5726623061, .ram_bytes = 68719476736, .bandwidth_bytes_per_second = 800000000000, .unified_memory = true, .working_set_assumed = true};
inline constexpr gpu_profile apple_m3_max_128gb{.id = "apple-m3-max-128gb", .name = "Apple M3 Max (128 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 103079215104, .runtime_total_rounding_bytes = 5000, .ram_bytes = 137438953472, .bandwidth_bytes_per_second = 400000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m3_max_36gb{.id = "apple-m3-max-36gb", .name = "Apple M3 Max (36 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 30150670000, .runtime_total_rounding_bytes = 5000, .ram_bytes = 38654705664, .bandwidth_bytes_per_second = 400000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m3_max_48gb{.id = "apple-m3-max-48gb", .name = "Apple M3 Max (48 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 38654710000, .runtime_total_rounding_bytes = 5000, .ram_bytes = 51539607552, .bandwidth_bytes_per_second = 400000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m3_max_64gb{.id = "apple-m3-max-64gb", .name = "Apple M3 Max (64 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 51539607552, .runtime_total_rounding_bytes = 536870912, .ram_bytes = 68719476736, .bandwidth_bytes_per_second = 400000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m3_max_96gb{.id = "apple-m3-max-96gb", .name = "Apple M3 Max (96 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 77309411328, .runtime_total_rounding_bytes = 8589934592, .ram_bytes = 103079215104, .bandwidth_bytes_per_second = 400000000000, .unified_memory = true, .working_set_assumed = true};
inline constexpr gpu_profile apple_m3_pro_18gb{.id = "apple-m3-pro-18gb", .name = "Apple M3 Pro (18 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 14302250000, .runtime_total_rounding_bytes = 5000, .ram_bytes = 19327352832, .bandwidth_bytes_per_second = 150000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m3_pro_36gb{.id = "apple-m3-pro-36gb", .name = "Apple M3 Pro (36 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 30150670417, .runtime_total_rounding_bytes = 3221225472, .ram_bytes = 38654705664, .bandwidth_bytes_per_second = 150000000000, .unified_memory = true, .working_set_assumed = true};
inline constexpr gpu_profile apple_m3_ultra_256gb{.id = "apple-m3-ultra-256gb", .name = "Apple M3 Ultra (256 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 206158430208, .runtime_total_rounding_bytes = 22906492245, .ram_bytes = 274877906944, .bandwidth_bytes_per_second = 819000000000, .unified_memory = true, .working_set_assumed = true};
inline constexpr gpu_profile apple_m3_ultra_512gb{.id = "apple-m3-ultra-512gb", .name = "Apple M3 Ultra (512 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 412316860416, .runtime_total_rounding_bytes = 45812984490, .ram_bytes = 549755813888, .bandwidth_bytes_per_second = 819000000000, .unified_memory = true, .working_set_assumed = true};
inline constexpr gpu_profile apple_m3_ultra_96gb{.id = "apple-m3-ultra-96gb", .name = "Apple M3 Ultra (96 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 77309411328, .runtime_total_rounding_bytes = 8589934592, .ram_bytes = 103079215104, .bandwidth_bytes_per_second = 819000000000, .unified_memory = true, .working_set_assumed = true};
inline constexpr gpu_profile apple_m4_16gb{.id = "apple-m4-16gb", .name = "Apple M4 (16 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 11453250000, .runtime_total_rounding_bytes = 5000, .ram_bytes = 17179869184, .bandwidth_bytes_per_second = 120000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m4_24gb{.id = "apple-m4-24gb", .name = "Apple M4 (24 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 17179869184, .runtime_total_rounding_bytes = 2147483648, .ram_bytes = 25769803776, .bandwidth_bytes_per_second = 120000000000, .unified_memory = true, .working_set_assumed = true};
inline constexpr gpu_profile apple_m4_32gb{.id = "apple-m4-32gb", .name = "Apple M4 (32 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 26800600000, .runtime_total_rounding_bytes = 5000, .ram_bytes = 34359738368, .bandwidth_bytes_per_second = 120000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m4_max_128gb{.id = "apple-m4-max-128gb", .name = "Apple M4 Max (128 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 115448730000, .runtime_total_rounding_bytes = 5000, .ram_bytes = 137438953472, .bandwidth_bytes_per_second = 546000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m4_max_36gb{.id = "apple-m4-max-36gb", .name = "Apple M4 Max (36 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 30150670417, .runtime_total_rounding_bytes = 3221225472, .ram_bytes = 38654705664, .bandwidth_bytes_per_second = 546000000000, .unified_memory = true, .working_set_assumed = true};
inline constexpr gpu_profile apple_m4_max_48gb{.id = "apple-m4-max-48gb", .name = "Apple M4 Max (48 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 38654705664, .runtime_total_rounding_bytes = 4294967296, .ram_bytes = 51539607552, .bandwidth_bytes_per_second = 546000000000, .unified_memory = true, .working_set_assumed = true};
inline constexpr gpu_profile apple_m4_max_64gb{.id = "apple-m4-max-64gb", .name = "Apple M4 Max (64 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 51539607552, .runtime_total_rounding_bytes = 5726623061, .ram_bytes = 68719476736, .bandwidth_bytes_per_second = 546000000000, .unified_memory = true, .working_set_assumed = true};
inline constexpr gpu_profile apple_m4_pro_24gb{.id = "apple-m4-pro-24gb", .name = "Apple M4 Pro (24 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 17179890000, .runtime_total_rounding_bytes = 5000, .ram_bytes = 25769803776, .bandwidth_bytes_per_second = 273000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m4_pro_48gb{.id = "apple-m4-pro-48gb", .name = "Apple M4 Pro (48 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 40200900000, .runtime_total_rounding_bytes = 5000, .ram_bytes = 51539607552, .bandwidth_bytes_per_second = 273000000000, .unified_memory = true};
inline constexpr gpu_profile apple_m4_pro_64gb{.id = "apple-m4-pro-64gb", .name = "Apple M4 Pro (64 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 51539607552, .runtime_total_rounding_bytes = 5726623061, .ram_bytes = 68719476736, .bandwidth_bytes_per_second = 273000000000, .unified_memory = true, .working_set_assumed = true};
inline constexpr gpu_profile apple_m5_max_128gb{.id = "apple-m5-max-128gb", .name = "Apple M5 Max (128 GB)", .vendor = gpu_vendor::apple, .architecture = "Apple GPU", .runtime_total_bytes = 115448730000, .runtime_total_rounding_bytes = 5000, .ram_bytes = 137438953472, .bandwidth_bytes_per_second = 614000000000, .unified_memory = true};
inline constexpr gpu_profile intel_arc_a770_16gb{.id = "intel-arc-a770-16gb", .name = "Intel Arc A770", .vendor = gpu_vendor::intel, .architecture = "Alchemist", .nominal_bytes = 16000000000, .bandwidth_bytes_per_second = 560000000000};
inline constexpr gpu_profile intel_arc_pro_b60_24gb{.id = "intel-arc-pro-b60-24gb", .name = "Intel Arc Pro B60", .vendor = gpu_vendor::intel, .architecture = "Battlemage", .nominal_bytes = 24000000000, .bandwidth_bytes_per_second = 456000000000, .bf16_dense_flops = 98300000000000, .int8_dense_ops = 197000000000000, .fp8 = native_support::emulated, .pcie_generation = 5};
inline constexpr gpu_profile intel_gaudi_2_96gb{.id = "intel-gaudi-2-96gb", .name = "Intel Gaudi 2", .vendor = gpu_vendor::intel, .architecture = "Gaudi", .nominal_bytes = 96000000000, .bandwidth_bytes_per_second = 2450000000000, .bf16_dense_flops = 432000000000000, .fp8_dense_flops = 835000000000000, .fp8 = native_support::native};
inline constexpr gpu_profile intel_gaudi_3_128gb{.id = "intel-gaudi-3-128gb", .name = "Intel Gaudi 3", .vendor = gpu_vendor::intel, .architecture = "Gaudi", .nominal_bytes = 128000000000, .bandwidth_bytes_per_second = 3700000000000, .bf16_dense_flops = 1835000000000000, .fp8_dense_flops = 1835000000000000, .fp8 = native_support::native, .pcie_generation = 5};
inline constexpr gpu_profile intel_max_1550_tile_64gb{.id = "intel-max-1550-tile-64gb", .name = "Intel Data Center GPU Max 1550 (one tile)", .vendor = gpu_vendor::intel, .architecture = "Ponte Vecchio", .nominal_bytes = 64000000000, .runtime_total_bytes = 68698001900, .runtime_total_rounding_bytes = 5368709};
inline constexpr gpu_profile nvidia_a10_24gb{.id = "nvidia-a10-24gb", .name = "NVIDIA A10", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.6", .nominal_bytes = 24000000000, .driver_total_bytes = 24146608128, .driver_total_ecc_off_bytes = 25757220864, .driver_total_ecc_on_bytes = 24146608128, .runtime_total_bytes = 23686744637, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 600000000000, .bf16_dense_flops = 125000000000000, .int8_dense_ops = 250000000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_a100_pcie_40gb{.id = "nvidia-a100-pcie-40gb", .name = "NVIDIA A100-PCIE-40GB", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.0", .nominal_bytes = 40000000000, .driver_total_bytes = 42949672960, .bandwidth_bytes_per_second = 1555000000000, .bf16_dense_flops = 312000000000000, .int8_dense_ops = 624000000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated, .pcie_generation = 4};
inline constexpr gpu_profile nvidia_a100_pcie_80gb{.id = "nvidia-a100-pcie-80gb", .name = "NVIDIA A100 80GB PCIe", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.0", .nominal_bytes = 80000000000, .driver_total_bytes = 85899345920, .runtime_total_bytes = 85094039552, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 1935000000000, .bf16_dense_flops = 312000000000000, .int8_dense_ops = 624000000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated, .pcie_generation = 4};
inline constexpr gpu_profile nvidia_a100_sxm_40gb{.id = "nvidia-a100-sxm-40gb", .name = "NVIDIA A100-SXM4-40GB", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.0", .nominal_bytes = 40000000000, .driver_total_bytes = 42949672960, .bandwidth_bytes_per_second = 1555000000000, .bf16_dense_flops = 312000000000000, .int8_dense_ops = 624000000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated, .link_bytes_per_second = 600000000000, .pcie_generation = 4};
inline constexpr gpu_profile nvidia_a100_sxm_64gb{.id = "nvidia-a100-sxm-64gb", .name = "NVIDIA A100-SXM-64GB", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.0", .nominal_bytes = 64000000000, .runtime_total_bytes = 68096706478, .runtime_total_rounding_bytes = 5368709, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_a100_sxm_80gb{.id = "nvidia-a100-sxm-80gb", .name = "NVIDIA A100-SXM4-80GB", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.0", .nominal_bytes = 80000000000, .driver_total_bytes = 85899345920, .runtime_total_bytes = 85094039552, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 2039000000000, .bf16_dense_flops = 312000000000000, .int8_dense_ops = 624000000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated, .link_bytes_per_second = 600000000000, .pcie_generation = 4};
inline constexpr gpu_profile nvidia_a10g_24gb{.id = "nvidia-a10g-24gb", .name = "NVIDIA A10G", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.6", .nominal_bytes = 24000000000, .driver_total_bytes = 24146608128, .driver_total_ecc_off_bytes = 25757220864, .driver_total_ecc_on_bytes = 24146608128, .runtime_total_bytes = 23686744637, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 600000000000, .bf16_dense_flops = 70000000000000, .int8_dense_ops = 140000000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_a16_16gb{.id = "nvidia-a16-16gb", .name = "NVIDIA A16", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.6", .nominal_bytes = 16000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_a2_16gb{.id = "nvidia-a2-16gb", .name = "NVIDIA A2", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.6", .nominal_bytes = 16000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_a30_24gb{.id = "nvidia-a30-24gb", .name = "NVIDIA A30", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.0", .nominal_bytes = 24000000000, .driver_total_bytes = 25769803776, .driver_total_ecc_on_bytes = 25769803776, .bandwidth_bytes_per_second = 933000000000, .bf16_dense_flops = 165000000000000, .int8_dense_ops = 330000000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated, .link_bytes_per_second = 200000000000, .pcie_generation = 4};
inline constexpr gpu_profile nvidia_a40_48gb{.id = "nvidia-a40-48gb", .name = "NVIDIA A40", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.6", .nominal_bytes = 48000000000, .driver_total_bytes = 48305799168, .driver_total_ecc_off_bytes = 51527024640, .driver_total_ecc_on_bytes = 48305799168, .runtime_total_bytes = 47609712476, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 696000000000, .bf16_dense_flops = 149700000000000, .int8_dense_ops = 299300000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_a800_sxm_80gb{.id = "nvidia-a800-sxm-80gb", .name = "NVIDIA A800-SXM4-80GB", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.0", .nominal_bytes = 80000000000, .bandwidth_bytes_per_second = 2039000000000, .bf16_dense_flops = 312000000000000, .int8_dense_ops = 624000000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_b200_sxm_180gb{.id = "nvidia-b200-sxm-180gb", .name = "NVIDIA B200", .vendor = gpu_vendor::nvidia, .architecture = "Blackwell", .compute_capability = "10.0", .nominal_bytes = 180000000000, .driver_total_bytes = 192265846784, .runtime_total_bytes = 191501854310, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 7700000000000, .bf16_dense_flops = 2250000000000000, .fp8_dense_flops = 4500000000000000, .int8_dense_ops = 4500000000000000, .fp4_dense_flops = 9000000000000000, .fp8 = native_support::native, .fp4 = native_support::native, .link_bytes_per_second = 1800000000000, .pcie_generation = 6};
inline constexpr gpu_profile nvidia_b300_sxm_288gb{.id = "nvidia-b300-sxm-288gb", .name = "NVIDIA B300 SXM6 AC", .vendor = gpu_vendor::nvidia, .architecture = "Blackwell Ultra", .compute_capability = "10.3", .nominal_bytes = 288000000000, .driver_total_bytes = 288400343040, .runtime_total_bytes = 287429948867, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 7750000000000, .bf16_dense_flops = 2250000000000000, .fp8_dense_flops = 4500000000000000, .int8_dense_ops = 153500000000000, .fp4_dense_flops = 14000000000000000, .fp8 = native_support::native, .fp4 = native_support::native, .link_bytes_per_second = 1800000000000, .pcie_generation = 6};
inline constexpr gpu_profile nvidia_gb10_128gb{.id = "nvidia-gb10-128gb", .name = "NVIDIA GB10", .vendor = gpu_vendor::nvidia, .architecture = "Blackwell", .compute_capability = "12.1", .nominal_bytes = 128000000000, .runtime_total_bytes = 128430259569, .runtime_total_rounding_bytes = 5368709, .ram_bytes = 137438953472, .bandwidth_bytes_per_second = 273000000000, .bf16_dense_flops = 213000000000000, .fp8_dense_flops = 214000000000000, .int8_dense_ops = 214000000000000, .fp4_dense_flops = 427000000000000, .fp8 = native_support::native, .fp4 = native_support::native, .unified_memory = true};
inline constexpr gpu_profile nvidia_gb200_192gb{.id = "nvidia-gb200-192gb", .name = "NVIDIA GB200", .vendor = gpu_vendor::nvidia, .architecture = "Blackwell", .compute_capability = "10.0", .nominal_bytes = 192000000000, .driver_total_bytes = 198674743296, .bandwidth_bytes_per_second = 8000000000000, .bf16_dense_flops = 2500000000000000, .fp8_dense_flops = 5000000000000000, .int8_dense_ops = 5000000000000000, .fp4_dense_flops = 10000000000000000, .fp8 = native_support::native, .fp4 = native_support::native, .link_bytes_per_second = 1800000000000, .pcie_generation = 5};
inline constexpr gpu_profile nvidia_gb300_288gb{.id = "nvidia-gb300-288gb", .name = "NVIDIA GB300", .vendor = gpu_vendor::nvidia, .architecture = "Blackwell Ultra", .compute_capability = "10.3", .nominal_bytes = 288000000000, .driver_total_bytes = 298013687808, .bandwidth_bytes_per_second = 8000000000000, .bf16_dense_flops = 2500000000000000, .fp8_dense_flops = 5000000000000000, .int8_dense_ops = 165000000000000, .fp4_dense_flops = 15000000000000000, .fp8 = native_support::native, .fp4 = native_support::native, .link_bytes_per_second = 1800000000000};
inline constexpr gpu_profile nvidia_gh200_96gb{.id = "nvidia-gh200-96gb", .name = "NVIDIA GH200 480GB", .vendor = gpu_vendor::nvidia, .architecture = "Hopper", .compute_capability = "9.0", .nominal_bytes = 96000000000, .driver_total_bytes = 102625181696, .runtime_total_bytes = 101468602368, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 4000000000000, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_h100_nvl_94gb{.id = "nvidia-h100-nvl-94gb", .name = "NVIDIA H100 NVL", .vendor = gpu_vendor::nvidia, .architecture = "Hopper", .compute_capability = "9.0", .nominal_bytes = 94000000000, .driver_total_bytes = 100485038080, .runtime_total_bytes = 99965363814, .runtime_total_rounding_bytes = 5368709, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_h100_pcie_80gb{.id = "nvidia-h100-pcie-80gb", .name = "NVIDIA H100 PCIe", .vendor = gpu_vendor::nvidia, .architecture = "Hopper", .compute_capability = "9.0", .nominal_bytes = 80000000000, .driver_total_bytes = 85520809984, .runtime_total_bytes = 85029615043, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 2000000000000, .bf16_dense_flops = 756500000000000, .fp8_dense_flops = 1513000000000000, .int8_dense_ops = 1513000000000000, .fp8 = native_support::native, .fp4 = native_support::emulated, .pcie_generation = 5};
inline constexpr gpu_profile nvidia_h100_sxm_80gb{.id = "nvidia-h100-sxm-80gb", .name = "NVIDIA H100 80GB HBM3", .vendor = gpu_vendor::nvidia, .architecture = "Hopper", .compute_capability = "9.0", .nominal_bytes = 80000000000, .driver_total_bytes = 85520809984, .runtime_total_bytes = 85029615043, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 3350000000000, .bf16_dense_flops = 989000000000000, .fp8_dense_flops = 1978000000000000, .int8_dense_ops = 1978000000000000, .fp8 = native_support::native, .fp4 = native_support::emulated, .link_bytes_per_second = 900000000000, .pcie_generation = 5};
inline constexpr gpu_profile nvidia_h20_96gb{.id = "nvidia-h20-96gb", .name = "NVIDIA H20", .vendor = gpu_vendor::nvidia, .architecture = "Hopper", .compute_capability = "9.0", .nominal_bytes = 96000000000, .driver_total_bytes = 102625181696, .bandwidth_bytes_per_second = 4000000000000, .bf16_dense_flops = 148000000000000, .fp8_dense_flops = 296000000000000, .int8_dense_ops = 296000000000000, .fp8 = native_support::native, .fp4 = native_support::emulated, .link_bytes_per_second = 900000000000};
inline constexpr gpu_profile nvidia_h200_nvl_141gb{.id = "nvidia-h200-nvl-141gb", .name = "NVIDIA H200 NVL", .vendor = gpu_vendor::nvidia, .architecture = "Hopper", .compute_capability = "9.0", .nominal_bytes = 141000000000, .driver_total_bytes = 150754820096, .bandwidth_bytes_per_second = 4800000000000, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_h200_sxm_141gb{.id = "nvidia-h200-sxm-141gb", .name = "NVIDIA H200", .vendor = gpu_vendor::nvidia, .architecture = "Hopper", .compute_capability = "9.0", .nominal_bytes = 141000000000, .driver_total_bytes = 150754820096, .runtime_total_bytes = 150109106995, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 4800000000000, .bf16_dense_flops = 989000000000000, .fp8_dense_flops = 1978000000000000, .int8_dense_ops = 1978000000000000, .fp8 = native_support::native, .fp4 = native_support::emulated, .link_bytes_per_second = 900000000000, .pcie_generation = 5};
inline constexpr gpu_profile nvidia_h800_sxm_80gb{.id = "nvidia-h800-sxm-80gb", .name = "NVIDIA H800", .vendor = gpu_vendor::nvidia, .architecture = "Hopper", .compute_capability = "9.0", .nominal_bytes = 80000000000, .bandwidth_bytes_per_second = 3350000000000, .bf16_dense_flops = 989000000000000, .fp8_dense_flops = 1979000000000000, .int8_dense_ops = 1979000000000000, .fp8 = native_support::native, .fp4 = native_support::emulated, .link_bytes_per_second = 400000000000};
inline constexpr gpu_profile nvidia_jetson_agx_orin_64gb{.id = "nvidia-jetson-agx-orin-64gb", .name = "NVIDIA Jetson AGX Orin 64GB", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.7", .nominal_bytes = 64000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated, .unified_memory = true};
inline constexpr gpu_profile nvidia_l20_48gb{.id = "nvidia-l20-48gb", .name = "NVIDIA L20", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 48000000000, .driver_total_bytes = 48305799168, .driver_total_ecc_off_bytes = 51527024640, .driver_total_ecc_on_bytes = 48305799168, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_l20x{.id = "nvidia-l20x", .name = "NVIDIA L20X", .vendor = gpu_vendor::nvidia, .driver_total_bytes = 150754820096};
inline constexpr gpu_profile nvidia_l4_24gb{.id = "nvidia-l4-24gb", .name = "NVIDIA L4", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 24000000000, .driver_total_bytes = 24152899584, .driver_total_ecc_on_bytes = 24152899584, .runtime_total_bytes = 23654532383, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 300000000000, .bf16_dense_flops = 121000000000000, .fp8_dense_flops = 242000000000000, .int8_dense_ops = 242000000000000, .fp8 = native_support::native, .fp4 = native_support::emulated, .pcie_generation = 4};
inline constexpr gpu_profile nvidia_l40_48gb{.id = "nvidia-l40-48gb", .name = "NVIDIA L40", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 48000000000, .driver_total_bytes = 48305799168, .driver_total_ecc_off_bytes = 51527024640, .driver_total_ecc_on_bytes = 48305799168, .bandwidth_bytes_per_second = 864000000000, .bf16_dense_flops = 181000000000000, .int8_dense_ops = 362000000000000, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_l40s_48gb{.id = "nvidia-l40s-48gb", .name = "NVIDIA L40S", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 48000000000, .driver_total_bytes = 48305799168, .driver_total_ecc_off_bytes = 51527024640, .driver_total_ecc_on_bytes = 48305799168, .runtime_total_bytes = 47674136986, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 864000000000, .bf16_dense_flops = 362050000000000, .fp8_dense_flops = 733000000000000, .int8_dense_ops = 733000000000000, .fp8 = native_support::native, .fp4 = native_support::emulated, .pcie_generation = 4};
inline constexpr gpu_profile nvidia_p100_pcie_16gb{.id = "nvidia-p100-pcie-16gb", .name = "Tesla P100-PCIE-16GB", .vendor = gpu_vendor::nvidia, .architecture = "Pascal", .compute_capability = "6.0", .nominal_bytes = 16000000000, .driver_total_bytes = 17179869184, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_2000_ada_16gb{.id = "nvidia-rtx-2000-ada-16gb", .name = "NVIDIA RTX 2000 Ada Generation", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 16000000000, .driver_total_bytes = 17175674880, .driver_total_ecc_off_bytes = 17175674880, .driver_total_ecc_on_bytes = 16101933056, .bandwidth_bytes_per_second = 224000000000, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_2080_ti_11gb{.id = "nvidia-rtx-2080-ti-11gb", .name = "NVIDIA GeForce RTX 2080 Ti", .vendor = gpu_vendor::nvidia, .architecture = "Turing", .compute_capability = "7.5", .nominal_bytes = 11000000000, .driver_total_bytes = 11811160064, .bandwidth_bytes_per_second = 616000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_3060_12gb{.id = "nvidia-rtx-3060-12gb", .name = "NVIDIA GeForce RTX 3060", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.6", .nominal_bytes = 12000000000, .driver_total_bytes = 12884901888, .bandwidth_bytes_per_second = 360000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_3080_10gb{.id = "nvidia-rtx-3080-10gb", .name = "NVIDIA GeForce RTX 3080", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.6", .nominal_bytes = 10000000000, .bandwidth_bytes_per_second = 760000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_3080_laptop_16gb{.id = "nvidia-rtx-3080-laptop-16gb", .name = "NVIDIA GeForce RTX 3080 Laptop GPU", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.6", .nominal_bytes = 16000000000, .driver_total_bytes = 17179869184, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_3090_24gb{.id = "nvidia-rtx-3090-24gb", .name = "NVIDIA GeForce RTX 3090", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.6", .nominal_bytes = 24000000000, .driver_total_bytes = 25769803776, .runtime_total_bytes = 25297357373, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 936000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_3090_ti_24gb{.id = "nvidia-rtx-3090-ti-24gb", .name = "NVIDIA GeForce RTX 3090 Ti", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.6", .nominal_bytes = 24000000000, .driver_total_bytes = 25757220864, .driver_total_ecc_off_bytes = 25757220864, .driver_total_ecc_on_bytes = 24146608128, .bandwidth_bytes_per_second = 1008000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_4000_ada_20gb{.id = "nvidia-rtx-4000-ada-20gb", .name = "NVIDIA RTX 4000 Ada Generation", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 20000000000, .driver_total_bytes = 21469593600, .driver_total_ecc_off_bytes = 21469593600, .driver_total_ecc_on_bytes = 20127416320, .bandwidth_bytes_per_second = 360000000000, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_4000_sff_ada_20gb{.id = "nvidia-rtx-4000-sff-ada-20gb", .name = "NVIDIA RTX 4000 SFF Ada Generation", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 20000000000, .driver_total_bytes = 21469593600, .driver_total_ecc_off_bytes = 21469593600, .driver_total_ecc_on_bytes = 20127416320, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_4060_ti_16gb{.id = "nvidia-rtx-4060-ti-16gb", .name = "NVIDIA GeForce RTX 4060 Ti", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 16000000000, .driver_total_bytes = 17175674880, .bandwidth_bytes_per_second = 288000000000, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_4070_12gb{.id = "nvidia-rtx-4070-12gb", .name = "NVIDIA GeForce RTX 4070", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 12000000000, .driver_total_bytes = 12878610432, .bandwidth_bytes_per_second = 504000000000, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_4070_super_12gb{.id = "nvidia-rtx-4070-super-12gb", .name = "NVIDIA GeForce RTX 4070 SUPER", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 12000000000, .driver_total_bytes = 12878610432, .bandwidth_bytes_per_second = 504000000000, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_4070_ti_12gb{.id = "nvidia-rtx-4070-ti-12gb", .name = "NVIDIA GeForce RTX 4070 Ti", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 12000000000, .driver_total_bytes = 12878610432, .bandwidth_bytes_per_second = 504000000000, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_4070_ti_super_16gb{.id = "nvidia-rtx-4070-ti-super-16gb", .name = "NVIDIA GeForce RTX 4070 Ti SUPER", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 16000000000, .driver_total_bytes = 17171480576, .bandwidth_bytes_per_second = 672000000000, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_4080_16gb{.id = "nvidia-rtx-4080-16gb", .name = "NVIDIA GeForce RTX 4080", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 16000000000, .driver_total_bytes = 17171480576, .bandwidth_bytes_per_second = 717000000000, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_4080_32gb_modified{.id = "nvidia-rtx-4080-32gb-modified", .name = "NVIDIA GeForce RTX 4080 32GB (modified)", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 32000000000, .driver_total_bytes = 34351349760, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_4080_super_16gb{.id = "nvidia-rtx-4080-super-16gb", .name = "NVIDIA GeForce RTX 4080 SUPER", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 16000000000, .driver_total_bytes = 17171480576, .bandwidth_bytes_per_second = 736000000000, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_4090_24gb{.id = "nvidia-rtx-4090-24gb", .name = "NVIDIA GeForce RTX 4090", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 24000000000, .driver_total_bytes = 25757220864, .driver_total_ecc_off_bytes = 25757220864, .driver_total_ecc_on_bytes = 24146608128, .runtime_total_bytes = 25254407700, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 1008000000000, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_4090_48gb_modified{.id = "nvidia-rtx-4090-48gb-modified", .name = "NVIDIA GeForce RTX 4090 48GB (modified)", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 48000000000, .driver_total_bytes = 51527024640, .driver_total_ecc_off_bytes = 51527024640, .driver_total_ecc_on_bytes = 48305799168, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_4090_laptop_16gb{.id = "nvidia-rtx-4090-laptop-16gb", .name = "NVIDIA GeForce RTX 4090 Laptop GPU", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 16000000000, .driver_total_bytes = 17171480576, .bandwidth_bytes_per_second = 576000000000, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_5000_ada_32gb{.id = "nvidia-rtx-5000-ada-32gb", .name = "NVIDIA RTX 5000 Ada Generation", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 32000000000, .driver_total_bytes = 34351349760, .driver_total_ecc_off_bytes = 34351349760, .driver_total_ecc_on_bytes = 32203866112, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_5060_ti_16gb{.id = "nvidia-rtx-5060-ti-16gb", .name = "NVIDIA GeForce RTX 5060 Ti", .vendor = gpu_vendor::nvidia, .architecture = "Blackwell", .compute_capability = "12.0", .nominal_bytes = 16000000000, .bandwidth_bytes_per_second = 448000000000, .fp8 = native_support::native, .fp4 = native_support::native};
inline constexpr gpu_profile nvidia_rtx_5070_ti_16gb{.id = "nvidia-rtx-5070-ti-16gb", .name = "NVIDIA GeForce RTX 5070 Ti", .vendor = gpu_vendor::nvidia, .architecture = "Blackwell", .compute_capability = "12.0", .nominal_bytes = 16000000000, .driver_total_bytes = 17094934528, .bandwidth_bytes_per_second = 896000000000, .fp8 = native_support::native, .fp4 = native_support::native};
inline constexpr gpu_profile nvidia_rtx_5080_16gb{.id = "nvidia-rtx-5080-16gb", .name = "NVIDIA GeForce RTX 5080", .vendor = gpu_vendor::nvidia, .architecture = "Blackwell", .compute_capability = "12.0", .nominal_bytes = 16000000000, .driver_total_bytes = 17094934528, .bandwidth_bytes_per_second = 960000000000, .fp8 = native_support::native, .fp4 = native_support::native};
inline constexpr gpu_profile nvidia_rtx_5090_32gb{.id = "nvidia-rtx-5090-32gb", .name = "NVIDIA GeForce RTX 5090", .vendor = gpu_vendor::nvidia, .architecture = "Blackwell", .compute_capability = "12.0", .nominal_bytes = 32000000000, .driver_total_bytes = 34190917632, .runtime_total_bytes = 33672543601, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 1792000000000, .bf16_dense_flops = 418990000000000, .fp8_dense_flops = 837980000000000, .int8_dense_ops = 837980000000000, .fp4_dense_flops = 1675960000000000, .fp8 = native_support::native, .fp4 = native_support::native, .pcie_generation = 5};
inline constexpr gpu_profile nvidia_rtx_6000_ada_48gb{.id = "nvidia-rtx-6000-ada-48gb", .name = "NVIDIA RTX 6000 Ada Generation", .vendor = gpu_vendor::nvidia, .architecture = "Ada Lovelace", .compute_capability = "8.9", .nominal_bytes = 48000000000, .driver_total_bytes = 51527024640, .driver_total_ecc_off_bytes = 51527024640, .driver_total_ecc_on_bytes = 48305799168, .runtime_total_bytes = 50895362458, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 960000000000, .fp8 = native_support::native, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_6000d{.id = "nvidia-rtx-6000d", .name = "NVIDIA RTX 6000D", .vendor = gpu_vendor::nvidia, .architecture = "Blackwell", .driver_total_bytes = 89811582976};
inline constexpr gpu_profile nvidia_rtx_a4000_16gb{.id = "nvidia-rtx-a4000-16gb", .name = "NVIDIA RTX A4000", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.6", .nominal_bytes = 16000000000, .driver_total_bytes = 17171480576, .driver_total_ecc_off_bytes = 17171480576, .driver_total_ecc_on_bytes = 16097738752, .bandwidth_bytes_per_second = 448000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_a5000_24gb{.id = "nvidia-rtx-a5000-24gb", .name = "NVIDIA RTX A5000", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.6", .nominal_bytes = 24000000000, .bandwidth_bytes_per_second = 768000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_a6000_48gb{.id = "nvidia-rtx-a6000-48gb", .name = "NVIDIA RTX A6000", .vendor = gpu_vendor::nvidia, .architecture = "Ampere", .compute_capability = "8.6", .nominal_bytes = 48000000000, .driver_total_bytes = 51527024640, .driver_total_ecc_off_bytes = 51527024640, .driver_total_ecc_on_bytes = 48305799168, .runtime_total_bytes = 51034948895, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 768000000000, .bf16_dense_flops = 154800000000000, .int8_dense_ops = 309700000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_rtx_pro_6000_96gb{.id = "nvidia-rtx-pro-6000-96gb", .name = "NVIDIA RTX PRO 6000 Blackwell", .vendor = gpu_vendor::nvidia, .architecture = "Blackwell", .compute_capability = "12.0", .nominal_bytes = 96000000000, .driver_total_bytes = 102641958912, .driver_total_ecc_off_bytes = 102641958912, .driver_total_ecc_on_bytes = 102641958912, .runtime_total_bytes = 101973261025, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 1792000000000, .bf16_dense_flops = 467800000000000, .fp8_dense_flops = 935600000000000, .int8_dense_ops = 935600000000000, .fp4_dense_flops = 1871200000000000, .fp8 = native_support::native, .fp4 = native_support::native, .pcie_generation = 5};
inline constexpr gpu_profile nvidia_rtx_pro_6000_max_q_96gb{.id = "nvidia-rtx-pro-6000-max-q-96gb", .name = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", .vendor = gpu_vendor::nvidia, .architecture = "Blackwell", .compute_capability = "12.0", .nominal_bytes = 96000000000, .driver_total_bytes = 102641958912, .driver_total_ecc_off_bytes = 102641958912, .driver_total_ecc_on_bytes = 102641958912, .runtime_total_bytes = 101973261025, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 1792000000000, .fp8 = native_support::native, .fp4 = native_support::native, .pcie_generation = 5};
inline constexpr gpu_profile nvidia_t4_16gb{.id = "nvidia-t4-16gb", .name = "Tesla T4", .vendor = gpu_vendor::nvidia, .architecture = "Turing", .compute_capability = "7.5", .nominal_bytes = 16000000000, .driver_total_bytes = 16106127360, .driver_total_ecc_off_bytes = 17179869184, .driver_total_ecc_on_bytes = 16106127360, .runtime_total_bytes = 15633680957, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 320000000000, .bf16_dense_flops = 65130000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated, .pcie_generation = 3};
inline constexpr gpu_profile nvidia_v100_pcie_16gb{.id = "nvidia-v100-pcie-16gb", .name = "Tesla V100-PCIE-16GB", .vendor = gpu_vendor::nvidia, .architecture = "Volta", .compute_capability = "7.0", .nominal_bytes = 16000000000, .driver_total_bytes = 17179869184, .bandwidth_bytes_per_second = 900000000000, .bf16_dense_flops = 112000000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_v100_pcie_32gb{.id = "nvidia-v100-pcie-32gb", .name = "Tesla V100-PCIE-32GB", .vendor = gpu_vendor::nvidia, .architecture = "Volta", .compute_capability = "7.0", .nominal_bytes = 32000000000, .driver_total_bytes = 34359738368, .runtime_total_bytes = 34069828076, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 900000000000, .bf16_dense_flops = 112000000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated};
inline constexpr gpu_profile nvidia_v100_sxm_16gb{.id = "nvidia-v100-sxm-16gb", .name = "Tesla V100-SXM2-16GB", .vendor = gpu_vendor::nvidia, .architecture = "Volta", .compute_capability = "7.0", .nominal_bytes = 16000000000, .driver_total_bytes = 17179869184, .bandwidth_bytes_per_second = 900000000000, .bf16_dense_flops = 112000000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated, .link_bytes_per_second = 300000000000};
inline constexpr gpu_profile nvidia_v100_sxm_32gb{.id = "nvidia-v100-sxm-32gb", .name = "Tesla V100-SXM2-32GB", .vendor = gpu_vendor::nvidia, .architecture = "Volta", .compute_capability = "7.0", .nominal_bytes = 32000000000, .driver_total_bytes = 34359738368, .runtime_total_bytes = 34069828076, .runtime_total_rounding_bytes = 5368709, .bandwidth_bytes_per_second = 900000000000, .bf16_dense_flops = 112000000000000, .fp8 = native_support::emulated, .fp4 = native_support::emulated, .link_bytes_per_second = 300000000000};

/// Every GPU of the catalogue, sorted by id.
inline constexpr const gpu_profile* all[] = {
    &amd_mi100_32gb,
    &amd_mi210_64gb,
    &amd_mi250x_gcd_64gb,
    &amd_mi300a_128gb,
    &amd_mi300x_192gb,
    &amd_mi325x_256gb,
    &amd_mi350x_288gb,
    &amd_mi355x_288gb,
    &amd_radeon_ai_pro_r9700_32gb,
    &amd_radeon_pro_w7900_48gb,
    &amd_rx_7900_xt_20gb,
    &amd_rx_7900_xtx_24gb,
    &apple_m1_max_32gb,
    &apple_m1_max_64gb,
    &apple_m1_pro_16gb,
    &apple_m1_pro_32gb,
    &apple_m1_ultra_128gb,
    &apple_m1_ultra_64gb,
    &apple_m2_max_32gb,
    &apple_m2_max_64gb,
    &apple_m2_max_96gb,
    &apple_m2_ultra_128gb,
    &apple_m2_ultra_192gb,
    &apple_m2_ultra_64gb,
    &apple_m3_max_128gb,
    &apple_m3_max_36gb,
    &apple_m3_max_48gb,
    &apple_m3_max_64gb,
    &apple_m3_max_96gb,
    &apple_m3_pro_18gb,
    &apple_m3_pro_36gb,
    &apple_m3_ultra_256gb,
    &apple_m3_ultra_512gb,
    &apple_m3_ultra_96gb,
    &apple_m4_16gb,
    &apple_m4_24gb,
    &apple_m4_32gb,
    &apple_m4_max_128gb,
    &apple_m4_max_36gb,
    &apple_m4_max_48gb,
    &apple_m4_max_64gb,
    &apple_m4_pro_24gb,
    &apple_m4_pro_48gb,
    &apple_m4_pro_64gb,
    &apple_m5_max_128gb,
    &intel_arc_a770_16gb,
    &intel_arc_pro_b60_24gb,
    &intel_gaudi_2_96gb,
    &intel_gaudi_3_128gb,
    &intel_max_1550_tile_64gb,
    &nvidia_a10_24gb,
    &nvidia_a100_pcie_40gb,
    &nvidia_a100_pcie_80gb,
    &nvidia_a100_sxm_40gb,
    &nvidia_a100_sxm_64gb,
    &nvidia_a100_sxm_80gb,
    &nvidia_a10g_24gb,
    &nvidia_a16_16gb,
    &nvidia_a2_16gb,
    &nvidia_a30_24gb,
    &nvidia_a40_48gb,
    &nvidia_a800_sxm_80gb,
    &nvidia_b200_sxm_180gb,
    &nvidia_b300_sxm_288gb,
    &nvidia_gb10_128gb,
    &nvidia_gb200_192gb,
    &nvidia_gb300_288gb,
    &nvidia_gh200_96gb,
    &nvidia_h100_nvl_94gb,
    &nvidia_h100_pcie_80gb,
    &nvidia_h100_sxm_80gb,
    &nvidia_h20_96gb,
    &nvidia_h200_nvl_141gb,
    &nvidia_h200_sxm_141gb,
    &nvidia_h800_sxm_80gb,
    &nvidia_jetson_agx_orin_64gb,
    &nvidia_l20_48gb,
    &nvidia_l20x,
    &nvidia_l4_24gb,
    &nvidia_l40_48gb,
    &nvidia_l40s_48gb,
    &nvidia_p100_pcie_16gb,
    &nvidia_rtx_2000_ada_16gb,
    &nvidia_rtx_2080_ti_11gb,
    &nvidia_rtx_3060_12gb,
    &nvidia_rtx_3080_10gb,
    &nvidia_rtx_3080_laptop_16gb,
    &nvidia_rtx_3090_24gb,
    &nvidia_rtx_3090_ti_24gb,
    &nvidia_rtx_4000_ada_20gb,
    &nvidia_rtx_4000_sff_ada_20gb,
    &nvidia_rtx_4060_ti_16gb,
    &nvidia_rtx_4070_12gb,
    &nvidia_rtx_4070_super_12gb,
    &nvidia_rtx_4070_ti_12gb,
    &nvidia_rtx_4070_ti_super_16gb,
    &nvidia_rtx_4080_16gb,
    &nvidia_rtx_4080_32gb_modified,
    &nvidia_rtx_4080_super_16gb,
    &nvidia_rtx_4090_24gb,
    &nvidia_rtx_4090_48gb_modified,
    &nvidia_rtx_4090_laptop_16gb,
    &nvidia_rtx_5000_ada_32gb,
    &nvidia_rtx_5060_ti_16gb,
    &nvidia_rtx_5070_ti_16gb,
    &nvidia_rtx_5080_16gb,
    &nvidia_rtx_5090_32gb,
    &nvidia_rtx_6000_ada_48gb,
    &nvidia_rtx_6000d,
    &nvidia_rtx_a4000_16gb,
    &nvidia_rtx_a5000_24gb,
    &nvidia_rtx_a6000_48gb,
    &nvidia_rtx_pro_6000_96gb,
    &nvidia_rtx_pro_6000_max_q_96gb,
    &nvidia_t4_16gb,
    &nvidia_v100_pcie_16gb,
    &nvidia_v100_pcie_32gb,
    &nvidia_v100_sxm_16gb,
    &nvidia_v100_sxm_32gb,
};

/// A further name of a GPU; `find_gpu` reads the table.
struct alias_entry { const char* alias; const gpu_profile* gpu; };

/// Every alias of the catalogue, sorted; no alias means two GPUs.
inline constexpr alias_entry aliases[] = {
    {"2080-ti", &nvidia_rtx_2080_ti_11gb},
    {"3060", &nvidia_rtx_3060_12gb},
    {"3080", &nvidia_rtx_3080_10gb},
    {"3090", &nvidia_rtx_3090_24gb},
    {"3090-ti", &nvidia_rtx_3090_ti_24gb},
    {"4060-ti", &nvidia_rtx_4060_ti_16gb},
    {"4070", &nvidia_rtx_4070_12gb},
    {"4070-super", &nvidia_rtx_4070_super_12gb},
    {"4070-ti", &nvidia_rtx_4070_ti_12gb},
    {"4070-ti-super", &nvidia_rtx_4070_ti_super_16gb},
    {"4080", &nvidia_rtx_4080_16gb},
    {"4080-super", &nvidia_rtx_4080_super_16gb},
    {"4090", &nvidia_rtx_4090_24gb},
    {"4090-48gb", &nvidia_rtx_4090_48gb_modified},
    {"4090-laptop", &nvidia_rtx_4090_laptop_16gb},
    {"5060-ti", &nvidia_rtx_5060_ti_16gb},
    {"5070-ti", &nvidia_rtx_5070_ti_16gb},
    {"5080", &nvidia_rtx_5080_16gb},
    {"5090", &nvidia_rtx_5090_32gb},
    {"7900-xt", &amd_rx_7900_xt_20gb},
    {"7900-xtx", &amd_rx_7900_xtx_24gb},
    {"a10", &nvidia_a10_24gb},
    {"a100-64gb", &nvidia_a100_sxm_64gb},
    {"a100-sxm4-40gb", &nvidia_a100_sxm_40gb},
    {"a100-sxm4-80gb", &nvidia_a100_sxm_80gb},
    {"a10g", &nvidia_a10g_24gb},
    {"a16", &nvidia_a16_16gb},
    {"a2", &nvidia_a2_16gb},
    {"a30", &nvidia_a30_24gb},
    {"a40", &nvidia_a40_48gb},
    {"a4000", &nvidia_rtx_a4000_16gb},
    {"a5000", &nvidia_rtx_a5000_24gb},
    {"a6000", &nvidia_rtx_a6000_48gb},
    {"a770", &intel_arc_a770_16gb},
    {"a800", &nvidia_a800_sxm_80gb},
    {"a800-80gb", &nvidia_a800_sxm_80gb},
    {"a800-sxm", &nvidia_a800_sxm_80gb},
    {"arc-a770", &intel_arc_a770_16gb},
    {"arc-pro-b60", &intel_arc_pro_b60_24gb},
    {"b200", &nvidia_b200_sxm_180gb},
    {"b200-sxm", &nvidia_b200_sxm_180gb},
    {"b300", &nvidia_b300_sxm_288gb},
    {"b300-sxm", &nvidia_b300_sxm_288gb},
    {"b60", &intel_arc_pro_b60_24gb},
    {"dgx-spark", &nvidia_gb10_128gb},
    {"gaudi-2", &intel_gaudi_2_96gb},
    {"gaudi-3", &intel_gaudi_3_128gb},
    {"gaudi2", &intel_gaudi_2_96gb},
    {"gaudi3", &intel_gaudi_3_128gb},
    {"gb10", &nvidia_gb10_128gb},
    {"gb200", &nvidia_gb200_192gb},
    {"gb300", &nvidia_gb300_288gb},
    {"gh200", &nvidia_gh200_96gb},
    {"h100-nvl", &nvidia_h100_nvl_94gb},
    {"h100-pcie", &nvidia_h100_pcie_80gb},
    {"h100-sxm", &nvidia_h100_sxm_80gb},
    {"h100-sxm5", &nvidia_h100_sxm_80gb},
    {"h100-sxm5-80gb", &nvidia_h100_sxm_80gb},
    {"h20", &nvidia_h20_96gb},
    {"h200", &nvidia_h200_sxm_141gb},
    {"h200-nvl", &nvidia_h200_nvl_141gb},
    {"h200-sxm", &nvidia_h200_sxm_141gb},
    {"h800", &nvidia_h800_sxm_80gb},
    {"h800-sxm", &nvidia_h800_sxm_80gb},
    {"jetson-agx-orin", &nvidia_jetson_agx_orin_64gb},
    {"jetson-orin-64gb", &nvidia_jetson_agx_orin_64gb},
    {"l20", &nvidia_l20_48gb},
    {"l20x", &nvidia_l20x},
    {"l4", &nvidia_l4_24gb},
    {"l40", &nvidia_l40_48gb},
    {"l40s", &nvidia_l40s_48gb},
    {"max-1550", &intel_max_1550_tile_64gb},
    {"max-1550-tile", &intel_max_1550_tile_64gb},
    {"mi100", &amd_mi100_32gb},
    {"mi210", &amd_mi210_64gb},
    {"mi250x", &amd_mi250x_gcd_64gb},
    {"mi250x-64gb", &amd_mi250x_gcd_64gb},
    {"mi250x-gcd", &amd_mi250x_gcd_64gb},
    {"mi300a", &amd_mi300a_128gb},
    {"mi300x", &amd_mi300x_192gb},
    {"mi325x", &amd_mi325x_256gb},
    {"mi350x", &amd_mi350x_288gb},
    {"mi355x", &amd_mi355x_288gb},
    {"p100", &nvidia_p100_pcie_16gb},
    {"p100-pcie", &nvidia_p100_pcie_16gb},
    {"ponte-vecchio", &intel_max_1550_tile_64gb},
    {"pro-6000", &nvidia_rtx_pro_6000_96gb},
    {"pro-w7900", &amd_radeon_pro_w7900_48gb},
    {"r9700", &amd_radeon_ai_pro_r9700_32gb},
    {"radeon-ai-pro-r9700", &amd_radeon_ai_pro_r9700_32gb},
    {"radeon-pro-w7900", &amd_radeon_pro_w7900_48gb},
    {"rtx-2000-ada", &nvidia_rtx_2000_ada_16gb},
    {"rtx-2080-ti", &nvidia_rtx_2080_ti_11gb},
    {"rtx-3060", &nvidia_rtx_3060_12gb},
    {"rtx-3080", &nvidia_rtx_3080_10gb},
    {"rtx-3080-laptop", &nvidia_rtx_3080_laptop_16gb},
    {"rtx-3090", &nvidia_rtx_3090_24gb},
    {"rtx-3090-ti", &nvidia_rtx_3090_ti_24gb},
    {"rtx-4000-ada", &nvidia_rtx_4000_ada_20gb},
    {"rtx-4000-sff-ada", &nvidia_rtx_4000_sff_ada_20gb},
    {"rtx-4060-ti", &nvidia_rtx_4060_ti_16gb},
    {"rtx-4070", &nvidia_rtx_4070_12gb},
    {"rtx-4070-super", &nvidia_rtx_4070_super_12gb},
    {"rtx-4070-ti", &nvidia_rtx_4070_ti_12gb},
    {"rtx-4070-ti-super", &nvidia_rtx_4070_ti_super_16gb},
    {"rtx-4080", &nvidia_rtx_4080_16gb},
    {"rtx-4080-32gb", &nvidia_rtx_4080_32gb_modified},
    {"rtx-4080-super", &nvidia_rtx_4080_super_16gb},
    {"rtx-4090", &nvidia_rtx_4090_24gb},
    {"rtx-4090-48gb", &nvidia_rtx_4090_48gb_modified},
    {"rtx-4090-laptop", &nvidia_rtx_4090_laptop_16gb},
    {"rtx-5000-ada", &nvidia_rtx_5000_ada_32gb},
    {"rtx-5060-ti", &nvidia_rtx_5060_ti_16gb},
    {"rtx-5070-ti", &nvidia_rtx_5070_ti_16gb},
    {"rtx-5080", &nvidia_rtx_5080_16gb},
    {"rtx-5090", &nvidia_rtx_5090_32gb},
    {"rtx-6000-ada", &nvidia_rtx_6000_ada_48gb},
    {"rtx-a4000", &nvidia_rtx_a4000_16gb},
    {"rtx-a5000", &nvidia_rtx_a5000_24gb},
    {"rtx-a6000", &nvidia_rtx_a6000_48gb},
    {"rtx-pro-6000", &nvidia_rtx_pro_6000_96gb},
    {"rtx-pro-6000-blackwell-server-edition", &nvidia_rtx_pro_6000_96gb},
    {"rtx-pro-6000-blackwell-workstation-edition", &nvidia_rtx_pro_6000_96gb},
    {"rtx-pro-6000-max-q", &nvidia_rtx_pro_6000_max_q_96gb},
    {"rtx-pro-6000-server", &nvidia_rtx_pro_6000_96gb},
    {"rtx-pro-6000-workstation", &nvidia_rtx_pro_6000_96gb},
    {"rx-7900-xt", &amd_rx_7900_xt_20gb},
    {"rx-7900-xtx", &amd_rx_7900_xtx_24gb},
    {"t4", &nvidia_t4_16gb},
    {"v100-sxm2-16gb", &nvidia_v100_sxm_16gb},
    {"v100-sxm2-32gb", &nvidia_v100_sxm_32gb},
    {"v100s", &nvidia_v100_pcie_32gb},
    {"v100s-pcie-32gb", &nvidia_v100_pcie_32gb},
    {"vgpu-32gb", &nvidia_rtx_4080_32gb_modified},
    {"w7900", &amd_radeon_pro_w7900_48gb},
};

}  // namespace gpus
}  // namespace kvbudget::inline v0
// clang-format on
