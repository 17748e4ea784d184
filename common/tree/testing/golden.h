// For tests: golden files. GALLEY_UPDATE_GOLDENS=1 in the environment writes what the test saw
// instead of comparing; review the diff.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "common/base/file.h"
#include "common/base/hex.h"

namespace galley {

// `path` is relative to the root of the sources.
inline void ExpectGolden(const std::string& path, const std::string& text) {
  const std::string file = std::string(GALLEY_SOURCE_DIR) + "/" + path;
  if (std::getenv("GALLEY_UPDATE_GOLDENS") != nullptr) {
    ASSERT_TRUE(WriteFileAtomic(file, text).ok()) << file;
    return;
  }
  const absl::StatusOr<std::string> golden = ReadFile(file);
  ASSERT_TRUE(golden.ok()) << golden.status();
  EXPECT_EQ(*golden, text) << "differs from " << path
                           << "; a change of a stored format needs a new kKeySchema";
}

// Bytes as lines of 32 in hex.
inline std::string HexLines(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 32) text += HexEncode(bytes.substr(i, 32)) + "\n";
  return text;
}

}  // namespace galley
