#include "director/registry/registry_table.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/temporary_folder.h"
#include "fmt/format.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

const std::vector<std::string> kPlatforms{"android", "pc"};
const RegistryTable::Basis kBasis{.generation = "g1", .world = "w1", .time = "now"};

RegistryRow Texture() {
  return {.package = "/Game/b.png",
          .cooker = "texture",
          .source_size = 100,
          .known = 3,
          .in_cook = 1,
          .failed = 2,
          .tags = {{"format", std::string("bc7"), 2}, {"srgb", true, 3}, {"width", 512.0, 3}},
          .edges = {},
          .outputs = {{0, ".ktx2", 10}, {1, ".ktx2", 20}, {1, ".mip", 5}},
          .reasons = {{6, "/Game/a.level"}}};
}

std::vector<RegistryRow> Rows() {
  return {{.package = "/Game/c.raw", .is_never = true, .is_broken = true},
          Texture(),
          {.package = "/Game/a.level",
           .cooker = "data",
           .known = 3,
           .edges = {{"/Game/c.raw", EdgeKind::kEditor, 3},
                     {"/Game/b.png", EdgeKind::kHard, 3},
                     {"/Game/gone.png", EdgeKind::kHard, 3},
                     {"/Game/b.png", EdgeKind::kSoft, 1}},
           .reasons = {{3, ""}, {6, "/Game/gone.level"}}}};
}

std::shared_ptr<const RegistryTable> TableOf(std::vector<RegistryRow> rows) {
  auto bytes = RegistryTable::Encode(kBasis, kPlatforms, std::move(rows));
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  auto table = RegistryTable::FromBytes(*std::move(bytes));
  EXPECT_TRUE(table.ok()) << table.status();
  for (size_t part = 0; part < RegistryTable::kParts; ++part)
    EXPECT_TRUE((*table)->Need(static_cast<RegistryTable::Part>(part)).ok());
  return *table;
}

std::vector<std::string> EdgesText(const RegistryTable& table,
                                   std::span<const RegistryTable::Edge> edges) {
  std::vector<std::string> text;
  for (const RegistryTable::Edge& edge : edges) {
    const RegistryTable::Label& label = table.labels()[edge.label];
    text.push_back(fmt::format("{} {} {}", table.NameOf(edge.other), EdgeKindName(label.kind),
                               label.platforms));
  }
  std::ranges::sort(text);
  return text;
}

TEST(RegistryTableTest, HasWhatWasWritten) {
  const auto table = TableOf(Rows());
  EXPECT_EQ(table->basis(), kBasis);
  EXPECT_EQ(table->platforms(), kPlatforms);
  ASSERT_EQ(table->size(), 3u);
  EXPECT_EQ(table->NameOf(0), "/Game/a.level");
  EXPECT_EQ(table->Find("/Game/b.png"), 1u);
  EXPECT_EQ(table->Find("/Game/b"), std::nullopt);
  EXPECT_EQ(table->Find("/zzz"), std::nullopt);
  EXPECT_EQ(table->LowerBound("/Game/b"), 1u);
  EXPECT_EQ(table->ClassOf(1), "texture");
  EXPECT_EQ(table->ClassOf(2), "");
  EXPECT_TRUE(table->IsNever(2) && table->IsBroken(2) && !table->IsGenerated(2));
  EXPECT_FALSE(table->IsNever(1) || table->IsBroken(1));
  EXPECT_EQ(table->KnownOf(1), 3u);
  EXPECT_EQ(table->InCookOf(1), 1u);
  EXPECT_EQ(table->FailedOf(1), 2u);
  EXPECT_EQ(table->SourceSizeOf(1), 100u);
  EXPECT_EQ(table->CookedSizeOf(1, 0), 10u);
  EXPECT_EQ(table->CookedSizeOf(1, 1), 25u);
  EXPECT_EQ(table->TagsOf(1), Texture().tags);
  EXPECT_EQ(table->OutputsOf(1), Texture().outputs);
  EXPECT_EQ(table->ReasonsOf(1), Texture().reasons);
  EXPECT_EQ(table->ReasonsOf(0), (std::vector<RegistryRow::Reason>{{3, ""}}))
      << "who is gone is no reason";
  EXPECT_TRUE(table->IsRoot(0));
  EXPECT_FALSE(table->IsRoot(1));
  EXPECT_EQ(EdgesText(*table, table->EdgesOf(0)),
            (std::vector<std::string>{"/Game/b.png hard 3", "/Game/b.png soft 1",
                                      "/Game/c.raw editor 3"}));
  EXPECT_EQ(EdgesText(*table, table->UsersOf(1)),
            (std::vector<std::string>{"/Game/a.level hard 3", "/Game/a.level soft 1"}));
  EXPECT_TRUE(table->EdgesOf(2).empty());
  EXPECT_TRUE(table->Status().ok());
}

TEST(RegistryTableTest, ATableWithoutPackages) {
  const auto table = TableOf({});
  EXPECT_EQ(table->size(), 0u);
  EXPECT_EQ(table->Find("/Game/a"), std::nullopt);
}

TEST(RegistryTableTest, TheSameRowsGiveTheSameBytes) {
  std::vector<RegistryRow> other = Rows();
  std::swap(other[0], other[2]);
  EXPECT_EQ(*RegistryTable::Encode(kBasis, kPlatforms, Rows()),
            *RegistryTable::Encode(kBasis, kPlatforms, other));
}

TEST(RegistryTableTest, WhatItCannotHoldIsRefused) {
  EXPECT_EQ(RegistryTable::Encode(kBasis, kPlatforms, {Texture(), Texture()}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(RegistryTable::Encode(kBasis, std::vector<std::string>(33, "p"), {}).ok());
}

// A wrong byte is found by whoever needs its part, wherever it is.
TEST(RegistryTableTest, EachDamagedByteIsFound) {
  const std::string bytes = *RegistryTable::Encode(kBasis, kPlatforms, Rows());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 1;
    const auto table = RegistryTable::FromBytes(damaged);
    if (!table.ok()) continue;
    bool is_found = false;
    for (size_t part = 0; part < RegistryTable::kParts; ++part)
      is_found |= !(*table)->Need(static_cast<RegistryTable::Part>(part)).ok();
    EXPECT_TRUE(is_found) << i;
  }
  for (size_t size = 0; size < bytes.size(); size += 7)
    EXPECT_FALSE(RegistryTable::FromBytes(bytes.substr(0, size)).ok()) << size;
}

TEST(RegistryTableTest, AFileIsMapped) {
  const auto folder = TemporaryFolder::Make(testing::TempDir(), "registry-");
  ASSERT_TRUE(folder.ok());
  const std::string file = JoinPath(folder->path(), "table");
  EXPECT_EQ(RegistryTable::Open(file).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(
      content::PatchedFile::Write(file, *RegistryTable::Encode(kBasis, kPlatforms, Rows())).ok());
  const auto table = RegistryTable::Open(file);
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_TRUE((*table)->Need(RegistryTable::Part::kNames).ok());
  EXPECT_EQ((*table)->Find("/Game/c.raw"), 2u);
}

}  // namespace
}  // namespace galley::director
