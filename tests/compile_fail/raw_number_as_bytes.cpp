// A raw number is not a size.
// expect-gcc: conversion from 'int' to
// expect-clang: no viable conversion
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
constexpr bytes size = 80;
#else
constexpr bytes size = 80_B;
#endif
