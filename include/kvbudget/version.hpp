#pragma once

/// The version of the library; CMakeLists.txt parses these three lines and stops if it cannot.
#define KVBUDGET_VERSION_MAJOR 0
#define KVBUDGET_VERSION_MINOR 1
#define KVBUDGET_VERSION_PATCH 0
