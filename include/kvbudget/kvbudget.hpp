#pragma once

/// The umbrella: units, formats, models, workloads, GPUs, layouts, ledgers, engines and plans. Standard
/// library only. Beside it: `lookup/` (names), `models.hpp` (catalogue), `io/` (JSON readers), `report/` (fmt
/// output).

#include "kvbudget/engine/geometry.hpp"
#include "kvbudget/engine/loaded_weights.hpp"
#include "kvbudget/engine/sglang.hpp"
#include "kvbudget/engine/tensorrt_llm.hpp"
#include "kvbudget/engine/transformers.hpp"
#include "kvbudget/engine/transformers/device_map.hpp"
#include "kvbudget/engine/vllm.hpp"
#include "kvbudget/hardware/gpus.hpp"
#include "kvbudget/model/builders.hpp"
#include "kvbudget/model/experts.hpp"
#include "kvbudget/plan/capacity.hpp"
#include "kvbudget/plan/estimate.hpp"
#include "kvbudget/plan/fits.hpp"
#include "kvbudget/plan/limits.hpp"
#include "kvbudget/plan/static_deployment.hpp"
#include "kvbudget/units/literals.hpp"
#include "kvbudget/version.hpp"
