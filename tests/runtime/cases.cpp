// The shared cases at run time, where sanitizers see them. tests/static/cases.cpp compiles the same lines.
#include "support/cases.hpp"
#include "support/catch.hpp"

namespace samples {
#define CASE(...) CHECK((__VA_ARGS__))

TEST_CASE("the article's figures"){
#include "cases/article.inc"
} TEST_CASE("cache and number formats"){
#include "cases/formats.inc"
} TEST_CASE("ledger lines"){
#include "cases/memory.inc"
} TEST_CASE("parallel layouts"){
#include "cases/parallel.inc"
} TEST_CASE("fits and limits"){
#include "cases/plan.inc"
} TEST_CASE("units"){
#include "cases/units.inc"
} TEST_CASE("weights as ranks hold them") {
#include "cases/weights.inc"
}

}  // namespace samples
