// The GPU catalogue, usable memory and name lookup, all in constant evaluation: nothing to run.
#include "kvbudget/hardware/gpus.hpp"

#include "kvbudget/detail/text.hpp"
#include "kvbudget/hardware/node.hpp"
#include "kvbudget/hardware/usable.hpp"
#include "kvbudget/lookup/gpu_lookup.hpp"
#include "kvbudget/memory/framework_constants.hpp"
#include "kvbudget/units/literals.hpp"

namespace {

using namespace kvbudget;
using namespace kvbudget::literals;

// ---- figures ----------------------------------------------------------------------------------------------
constexpr std::uint64_t mib = 1024 * 1024;

static_assert(gpus::nvidia_h100_sxm_80gb.driver_total_bytes == 85'520'809'984);
static_assert(gpus::nvidia_h100_sxm_80gb.driver_total_bytes == 81'559 * mib);
static_assert(gpus::nvidia_h100_sxm_80gb.nominal_bytes == 80'000'000'000);
static_assert(gpus::nvidia_h100_sxm_80gb.bandwidth_bytes_per_second == 3'350'000'000'000);
static_assert(gpus::nvidia_h100_sxm_80gb.fp8 == native_support::native);
static_assert(gpus::nvidia_h100_sxm_80gb.fp4 == native_support::emulated);
static_assert(gpus::nvidia_h200_sxm_141gb.driver_total_bytes == 150'754'820'096);
static_assert(gpus::nvidia_h200_sxm_141gb.runtime_total_bytes == 150'109'106'995);  // 139.80 GiB
static_assert(gpus::nvidia_rtx_a6000_48gb.driver_total_bytes == 49'140 * mib);      // ECC is off by default
static_assert(gpus::nvidia_rtx_a6000_48gb.driver_total_ecc_on_bytes == 46'068 * mib);
static_assert(gpus::nvidia_rtx_4090_24gb.driver_total_bytes == 24'564 * mib);
static_assert(gpus::nvidia_rtx_4090_24gb.driver_total_ecc_on_bytes == 23'028 * mib);
static_assert(gpus::nvidia_t4_16gb.driver_total_bytes == 15'360 * mib);  // ECC is on by default
static_assert(gpus::nvidia_t4_16gb.driver_total_ecc_off_bytes == 16'384 * mib);
static_assert(gpus::nvidia_l40s_48gb.driver_total_bytes == 46'068 * mib);
static_assert(gpus::nvidia_b300_sxm_288gb.driver_total_bytes == 275'040 * mib);
static_assert(gpus::amd_mi250x_gcd_64gb.nominal_bytes == 64'000'000'000);  // one of two dies
static_assert(gpus::apple_m2_ultra_192gb.runtime_total_bytes == gibibytes(144).value);
static_assert(gpus::apple_m2_ultra_192gb.ram_bytes == gibibytes(192).value);
static_assert(!gpus::apple_m2_ultra_192gb.working_set_assumed);
static_assert(gpus::apple_m4_max_64gb.working_set_assumed && gpus::apple_m4_max_64gb.unified_memory);

constexpr bool every_profile_is_in_order() {
  const gpu_profile* last = nullptr;
  for (const gpu_profile* gpu : gpus::all) {
    if (gpu->id[0] == '\0' || gpu->name[0] == '\0') return false;
    if (gpu->nominal_bytes == 0 && gpu->driver_total_bytes == 0 && gpu->runtime_total_bytes == 0)
      return false;
    if (gpu->runtime_total_bytes == 0 && gpu->runtime_total_rounding_bytes != 0) return false;
    // A program never sees more than the driver has; ECC never adds memory.
    if (gpu->driver_total_bytes != 0 &&
        gpu->runtime_total_bytes > gpu->driver_total_bytes + gpu->runtime_total_rounding_bytes) {
      return false;
    }
    if (gpu->driver_total_ecc_off_bytes != 0 &&
        gpu->driver_total_ecc_on_bytes > gpu->driver_total_ecc_off_bytes) {
      return false;
    }
    // The usual default is one of the two.
    if (gpu->driver_total_ecc_off_bytes != 0 && gpu->driver_total_ecc_on_bytes != 0 &&
        gpu->driver_total_bytes != gpu->driver_total_ecc_off_bytes &&
        gpu->driver_total_bytes != gpu->driver_total_ecc_on_bytes) {
      return false;
    }
    if ((gpu->vendor == gpu_vendor::apple) != (gpu->ram_bytes != 0 && gpu->nominal_bytes == 0)) return false;
    if (last != nullptr) {  // sorted by id, no id twice
      const char* a = last->id;
      const char* b = gpu->id;
      while (*a != '\0' && *a == *b) ++a, ++b;
      if (!(*a < *b)) return false;
    }
    last = gpu;
  }
  return true;
}
static_assert(every_profile_is_in_order());
static_assert(sizeof(gpus::all) / sizeof(gpus::all[0]) >= 80);

// ---- usable -----------------------------------------------------------------------------------------------
constexpr usable_memory h100 = usable(gpus::nvidia_h100_sxm_80gb);  // the runtime's 79.19 GiB
static_assert(h100.expected == 85'029'615'043_B && h100.known == basis::measured);
static_assert(h100.high - h100.low == 2 * 5'368'709_B);

constexpr usable_memory gb200 = usable(gpus::nvidia_gb200_192gb);  // only the driver's total is known
static_assert(gb200.known == basis::assumed);
static_assert(gb200.low == mebibytes(189'471) - 966'367'641_B);
static_assert(gb200.expected == mebibytes(189'471) - 644'245'094_B);
static_assert(gb200.high == mebibytes(189'471) - 322'122'547_B);

constexpr usable_memory a2 = usable(gpus::nvidia_a2_16gb, nominal_is_enough);
static_assert(a2.known == basis::assumed);
static_assert(a2.low == 15_GB - 966'367'641_B);
static_assert(a2.expected == 16_GB - 644'245'094_B);
static_assert(a2.high == 16_GiB - 322'122'547_B);
// A measured total is not touched by the option.
static_assert(usable(gpus::nvidia_h100_sxm_80gb, nominal_is_enough) == h100);
// The bounds of the guess hold for every GPU whose total is known.
constexpr bool guess_from_the_marketed_size_is_honest() {
  for (const gpu_profile* gpu : gpus::all) {
    if (gpu->nominal_bytes == 0 || gpu->runtime_total_bytes == 0) continue;
    gpu_profile box{.nominal_bytes = gpu->nominal_bytes, .unified_memory = gpu->unified_memory};
    const usable_memory guess = usable(box, nominal_is_enough);
    const usable_memory seen = usable(*gpu);
    if (seen.high < guess.low || guess.high + 322'122'547_B < seen.low) return false;
  }
  return true;
}
static_assert(guess_from_the_marketed_size_is_honest());
// Those from the driver's total hold too; 200 MiB of slack for the V100 (0.27 GiB) and the GH200 (1.08 GiB,
// whose two totals come from different machines).
constexpr bool guess_from_the_driver_total_is_honest() {
  for (const gpu_profile* gpu : gpus::all) {
    if (gpu->driver_total_bytes == 0 || gpu->runtime_total_bytes == 0) continue;
    if (gpu->vendor != gpu_vendor::nvidia) continue;
    const usable_memory guess = usable(gpu_profile{.driver_total_bytes = gpu->driver_total_bytes});
    const usable_memory seen = usable(*gpu);
    if (seen.expected + 200_MiB < guess.low || guess.high + 200_MiB < seen.expected) return false;
  }
  return true;
}
static_assert(guess_from_the_driver_total_is_honest());

static_assert(usable(gpus::apple_m4_max_64gb).known == basis::assumed);
static_assert(usable(gpus::apple_m4_max_64gb).expected == 48_GiB);

constexpr node eight = node_of(gpus::nvidia_h100_sxm_80gb, 8);
static_assert(usable(eight).expected == 8 * h100.expected && usable(eight).known == basis::measured);
static_assert(&gpu_of(eight) == &gpus::nvidia_h100_sxm_80gb);

// ---- lookup -----------------------------------------------------------------------------------------------
constexpr bool means(const char* name, const gpu_profile& gpu) { return find_gpu(name).gpu == &gpu; }
constexpr bool ambiguous(const char* name, std::uint32_t matches) {
  const gpu_lookup result = find_gpu(name);
  return result.status == lookup_status::ambiguous && result.matches == matches && !result;
}

static_assert(means("nvidia-h100-sxm-80gb", gpus::nvidia_h100_sxm_80gb));
static_assert(means("NVIDIA_H100 SXM_80GB", gpus::nvidia_h100_sxm_80gb));
static_assert(means("h100-sxm", gpus::nvidia_h100_sxm_80gb));
static_assert(means("H100 SXM 80GB", gpus::nvidia_h100_sxm_80gb));
static_assert(means("NVIDIA H100 80GB HBM3", gpus::nvidia_h100_sxm_80gb));  // as the driver writes it
static_assert(means("h200", gpus::nvidia_h200_sxm_141gb));
static_assert(means("4090", gpus::nvidia_rtx_4090_24gb));
static_assert(means("rtx 4090", gpus::nvidia_rtx_4090_24gb));
static_assert(means("RTX4090", gpus::nvidia_rtx_4090_24gb));
static_assert(means("NVIDIA GeForce RTX 4090", gpus::nvidia_rtx_4090_24gb));
static_assert(means("geforce rtx 4090 24gb", gpus::nvidia_rtx_4090_24gb));
static_assert(means("4070 Ti", gpus::nvidia_rtx_4070_ti_12gb));
static_assert(means("4070 ti super", gpus::nvidia_rtx_4070_ti_super_16gb));
static_assert(means("a6000", gpus::nvidia_rtx_a6000_48gb));
static_assert(means("6000 ada", gpus::nvidia_rtx_6000_ada_48gb));
static_assert(means("mi300x", gpus::amd_mi300x_192gb));
static_assert(means("AMD Instinct MI300X", gpus::amd_mi300x_192gb));
static_assert(means("l40", gpus::nvidia_l40_48gb));
static_assert(means("l40s", gpus::nvidia_l40s_48gb));
static_assert(means("Tesla T4", gpus::nvidia_t4_16gb));
static_assert(means("a100 pcie 80gb", gpus::nvidia_a100_pcie_80gb));
static_assert(means("m4 24gb", gpus::apple_m4_24gb));
static_assert(means("Apple M3 Max 128 GB", gpus::apple_m3_max_128gb));
static_assert(means("m2-ultra-192gb", gpus::apple_m2_ultra_192gb));
static_assert(ambiguous("h100", 3));       // SXM, PCIe, NVL
static_assert(ambiguous("a100-80gb", 2));  // SXM, PCIe
static_assert(ambiguous("A100", 5));
static_assert(ambiguous("m3 max", 5));

static_assert(find_gpu("").status == lookup_status::unknown);
static_assert(find_gpu(" - _").candidate_count == 0);
static_assert(find_gpu("cray-1").status == lookup_status::unknown);
constexpr gpu_lookup typo = find_gpu("h100-smx-80gb");
static_assert(typo.status == lookup_status::unknown && typo.matches == 0);
static_assert(typo.candidates[0] == &gpus::nvidia_h100_sxm_80gb);
static_assert(typo.candidate_count <= gpu_lookup::max_suggestions);
constexpr gpu_lookup mi300 = find_gpu("mi300");
static_assert(mi300.status == lookup_status::unknown && mi300.candidate_count >= 2);

constexpr bool every_name_means_its_own_gpu(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    if (!means(gpus::all[i]->id, *gpus::all[i]) || !means(gpus::all[i]->name, *gpus::all[i])) return false;
  }
  return true;
}
static_assert(every_name_means_its_own_gpu(0, 8));  // all of them at run time

static_assert(&gpu_named("h200") == &gpus::nvidia_h200_sxm_141gb);

static_assert(detail::edit_distance(detail::key_of("kitten"), detail::key_of("sitting"), 5) == 3);
static_assert(detail::edit_distance(detail::key_of("kitten"), detail::key_of("sitting"), 3) == 3);
static_assert(detail::edit_distance(detail::key_of("kitten"), detail::key_of("sitting"), 2) == 3);  // > 2
static_assert(detail::edit_distance(detail::key_of(""), detail::key_of("abc"), 3) == 3);
static_assert(detail::edit_distance(detail::key_of("A-100"), detail::key_of("a100"), 2) == 0);

// ---- constants --------------------------------------------------------------------------------------------
static_assert(constants::cuda_context.expected == mebibytes(426).value);
static_assert(constants::cublas_workspace.expected == 8'519'680);
static_assert(constants::cublas_workspace_sm_90.expected == mebibytes(32).value);
static_assert(constants::nccl_buffers_2_gpus.expected == mebibytes(342).value);
static_assert(constants::nccl_buffers_8_gpus.expected == mebibytes(392).value);
static_assert(weaker(basis::exact, basis::calibrated) == basis::calibrated);

}  // namespace
