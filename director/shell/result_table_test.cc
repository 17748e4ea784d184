#include "director/shell/result_table.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace galley::director {
namespace {

std::shared_ptr<StoredResult> Make(const std::string& key) {
  auto stored = std::make_shared<StoredResult>();
  stored->package = key;
  stored->action_key = Digest::Of(key);
  return stored;
}

TEST(ResultTableTest, ARecordIsThereWhileItsViewIsHeld) {
  ResultTable table(ResultTable::Kept::kWhileHeld);
  ResultViewPtr view = table.Add(Make("a"));
  const ResultId id = view->id;
  EXPECT_EQ(table.Get(id)->package, "a");
  EXPECT_EQ(table.size(), 1u);
  view.reset();
  EXPECT_EQ(table.Get(id), nullptr);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_NE(table.Add(Make("b"))->id, id) << "an id is not given twice";
}

TEST(ResultTableTest, WhoGotARecordHoldsItAlso) {
  ResultTable table(ResultTable::Kept::kWhileHeld);
  ResultViewPtr view = table.Add(Make("a"));
  const ResultId id = view->id;
  StoredResultPtr stored = table.Get(id);
  view.reset();
  EXPECT_EQ(table.Get(id), stored);
  stored.reset();
  EXPECT_EQ(table.size(), 0u);
}

TEST(ResultTableTest, WhatIsHeldMayOutliveTheTable) {
  std::optional<ResultTable> table(ResultTable::Kept::kWhileHeld);
  const ResultViewPtr view = table->Add(Make("a"));
  const StoredResultPtr stored = table->Get(view->id);
  table.reset();
  EXPECT_EQ(stored->package, "a");
}

TEST(ResultTableTest, AViewNamesThePackagesWhoseOutputsWereRead) {
  ResultTable table;
  EXPECT_EQ(table.Add(Make("/Game/a.txt"))->inputs, nullptr);
  const std::shared_ptr<StoredResult> stored = Make("/Game/maps/town.level");
  using Kind = record::ObservationKind;
  stored->observed = {{{Kind::kFile, "../c.png", ""}, "absent"},
                      {{Kind::kCooked, "../b.png", ".ktx2"}, "absent"},
                      {{Kind::kCooked, "../b.png", ".mips"}, "absent"},
                      {{Kind::kCooked, "/Game/a.png", ""}, "absent"},
                      {{Kind::kCooked, "_gen/cell.level", ""}, "absent"}};
  const ResultViewPtr view = table.Add(stored);
  ASSERT_NE(view->inputs, nullptr);
  EXPECT_EQ(*view->inputs, (std::vector<std::string>{"/Game/a.png", "/Game/b.png",
                                                     "/Game/maps/town.level/_gen/cell.level"}));
}

TEST(ResultTableTest, OneThatKeepsAlwaysNeedsNoHolder) {
  ResultTable table;
  const ResultId id = table.Add(Make("a"))->id;
  EXPECT_EQ(table.Get(id)->package, "a");
}

TEST(ResultTableTest, ADisputeIsOfTheRecordsThatWereThere) {
  ResultTable table(ResultTable::Kept::kWhileHeld);
  const ResultViewPtr before = table.Add(Make("a"));
  const ResultViewPtr other = table.Add(Make("b"));
  table.Dispute(Digest::Of("a"));
  const ResultViewPtr after = table.Add(Make("a"));
  EXPECT_TRUE(table.IsDisputed(before->id));
  EXPECT_FALSE(table.IsDisputed(other->id));
  EXPECT_FALSE(table.IsDisputed(after->id));
}

}  // namespace
}  // namespace galley::director
