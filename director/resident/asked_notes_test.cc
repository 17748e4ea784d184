#include "director/resident/asked_notes.h"

#include <string>
#include <thread>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> TextsOf(const std::vector<devices::AheadKey>& keys) {
  std::vector<std::string> texts;
  for (const devices::AheadKey& key : keys) texts.push_back(key.package + " " + key.platform);
  return texts;
}

TEST(AskedNotesTest, ABatchHasEachPackageOnceInTheOrderOfItsFirstNote) {
  AskedNotes notes;
  EXPECT_TRUE(notes.Note("pc", "/Game/b")) << "a batch begins";
  EXPECT_FALSE(notes.Note("pc", "/Game/a"));
  EXPECT_FALSE(notes.Note("pc", "/Game/b"));
  EXPECT_FALSE(notes.Note("mobile", "/Game/b"));
  EXPECT_THAT(TextsOf(notes.Take()), ElementsAre("/Game/b pc", "/Game/a pc", "/Game/b mobile"));
  EXPECT_THAT(notes.Take(), IsEmpty());
}

TEST(AskedNotesTest, TheNextBatchHasThemAgain) {
  AskedNotes notes;
  notes.Note("pc", "/Game/a");
  notes.Take();
  EXPECT_TRUE(notes.Note("pc", "/Game/a"));
  EXPECT_THAT(TextsOf(notes.Take()), ElementsAre("/Game/a pc"));
}

TEST(AskedNotesTest, AFullBatchTakesNoMore) {
  AskedNotes notes;
  for (size_t i = 0; i < 2 * AskedNotes::kBatchMax; ++i) notes.Note("pc", fmt::format("{}", i));
  EXPECT_THAT(notes.Take(), SizeIs(AskedNotes::kBatchMax));
}

TEST(AskedNotesTest, ManyThreadsMayNote) {
  AskedNotes notes;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&notes, thread] {
      for (int i = 0; i < 100; ++i) notes.Note("pc", fmt::format("{} {}", thread, i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Two packages with one place in the table may be noted twice, and are never lost here.
  EXPECT_GE(notes.Take().size(), 400u);
}

}  // namespace
}  // namespace galley::director
