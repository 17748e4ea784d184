#include "common/record/source_names.h"

#include <gtest/gtest.h>

namespace galley::record {
namespace {

std::string Named(std::string_view text) {
  return NameSources(text, [](std::string_view name) -> std::optional<std::string> {
    if (name == kSourceName) return "content/lit.frag";
    if (name == "../inc/a.glsl") return "content/inc/a.glsl";
    return std::nullopt;
  });
}

TEST(SourceNamesTest, PlacesOfCompilersGetTheNamesOfTheirFiles) {
  EXPECT_EQ(Named("ERROR: source:12: 'x' : undeclared identifier\n"
                  "ERROR: ../inc/a.glsl:3: '' : syntax error\n"
                  "ERROR: 2 compilation errors.  No code generated."),
            "ERROR: content/lit.frag:12: 'x' : undeclared identifier\n"
            "ERROR: content/inc/a.glsl:3: '' : syntax error\n"
            "ERROR: 2 compilation errors.  No code generated.");
  EXPECT_EQ(Named("variant fog: ERROR: source:1: x"), "variant fog: ERROR: content/lit.frag:1: x");
  EXPECT_EQ(Named("WARNING: source:7: y\n"), "WARNING: content/lit.frag:7: y\n");
  EXPECT_EQ(Named("source:7: y"), "content/lit.frag:7: y");
}

TEST(SourceNamesTest, WhatIsNoPlaceStays) {
  for (const char* text : {"", "\n", "ERROR: source", "ERROR: source:", "ERROR: source:x:",
                           "ERROR: source:12", "the source:12: of all", "ERROR: unknown.glsl:3: x",
                           "ERROR: 0:12: x", ":12: x", "refers to 'source:1:'"})
    EXPECT_EQ(Named(text), text);
}

}  // namespace
}  // namespace galley::record
