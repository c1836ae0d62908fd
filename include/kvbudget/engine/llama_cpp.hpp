#pragma once

/// llama.cpp and the programs that run it: `engines::llama_cpp`, `engines::ollama`, `engines::lm_studio`,
/// `engines::ik_llama_cpp`. Standard library only; stands beside the umbrella, because following ggml's
/// allocator through a graph takes more lines than the umbrella's budget has.
#include "kvbudget/engine/llama_cpp/front_ends.hpp"
#include "kvbudget/engine/llama_cpp/ledger.hpp"
