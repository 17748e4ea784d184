#include "director/host/size_notes.h"

#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kMiB = 1 << 20;

TEST(SizeNotesTest, ThereIsALineForAllAndOneForEachKindTheLargestFirst) {
  SizeNotes notes;
  EXPECT_THAT(notes.Lines(), IsEmpty());
  notes.Add("/Game/a.png", "windows", 4 * kMiB, kMiB);
  notes.Add("/Game/a.png", "android", 4 * kMiB, 2 * kMiB);
  notes.Add("/Game/b.wav", "windows", 8 * kMiB, kMiB);
  notes.Add("/Game/b.wav", "android", 8 * kMiB, kMiB);
  EXPECT_THAT(
      notes.Lines(),
      ElementsAre("sizes: 2 packages, 12.0 MiB of sources -> android 3.0 MiB, windows 2.0 MiB",
                  "  .wav: 1 package, 8.0 MiB of sources -> android 1.0 MiB, windows 1.0 MiB",
                  "  .png: 1 package, 4.0 MiB of sources -> android 2.0 MiB, windows 1.0 MiB"));
}

TEST(SizeNotesTest, TheLastWordOfAPackageCountsAndWhatLeftDoesNot) {
  SizeNotes notes;
  notes.Add("/Game/a.png", "windows", kMiB, kMiB);
  notes.Add("/Game/a.png", "windows", 2 * kMiB, 3 * kMiB);
  notes.Add("/Game/b.png", "windows", kMiB, kMiB);
  notes.Remove("/Game/b.png");
  EXPECT_THAT(notes.Lines(),
              ElementsAre("sizes: 1 package, 2.0 MiB of sources -> windows 3.0 MiB"));
}

TEST(SizeNotesTest, AGeneratedPackageHasNoSourceOfItsOwn) {
  SizeNotes notes;
  notes.Add("/Game/a.level", "windows", kMiB, kMiB);
  notes.Add("/Game/a.level/_gen/cell_0_0.level", "windows", kMiB, kMiB);
  EXPECT_THAT(notes.Lines(),
              ElementsAre("sizes: 2 packages, 1.0 MiB of sources -> windows 2.0 MiB"));
}

TEST(SizeNotesTest, MuchGrowthIsToldWithTheSettingThatShrinksIt) {
  SizeNotes notes;
  notes.Add("/Game/a.png", "windows", kMiB, 3 * kMiB);
  EXPECT_EQ(notes.FindGrowth(), std::nullopt) << "three times";
  notes.Add("/Game/b.png", "windows", kMiB, 20 * kMiB);
  notes.Add("/Game/c.png", "windows", kMiB, 5 * kMiB);
  notes.Add("/Game/c.png", "android", kMiB, kMiB);
  notes.Add("/Game/d.json", "windows", kMiB, 3 * kMiB);
  const auto growth = notes.FindGrowth();
  ASSERT_TRUE(growth.has_value());
  EXPECT_EQ(growth->package, "/Game/b.png");
  EXPECT_EQ(TextOf(*growth, "texture"),
            "the cooked files of windows are 7 times as large as their sources: 31.0 MiB of 4.0 "
            "MiB, and .png grew most (as /Game/b.png); `settings = { max_size = 1024 }` in their "
            "rule bounds textures, and `zstd = 9` packs what is staged (docs/cookers/texture.md)");
  EXPECT_NE(TextOf(*growth, "audio").find("`bitrate`"), std::string::npos);
  EXPECT_NE(TextOf(*growth, "mesh").find("`lods`"), std::string::npos);
  EXPECT_NE(TextOf(*growth, "command").find("galley ls --sort size"), std::string::npos);
}

TEST(SizeNotesTest, GrowthOfFewBytesIsNotTold) {
  SizeNotes notes;
  notes.Add("/Game/a.json", "windows", 10, kMiB);
  EXPECT_EQ(notes.FindGrowth(), std::nullopt);
  notes.Add("/Game/a.json", "windows", 10, kMiB + 10);
  EXPECT_TRUE(notes.FindGrowth().has_value());
}

TEST(SizeNotesTest, FiveKindsAreNamedAndTheOthersCounted) {
  SizeNotes notes;
  for (const char* kind : {"a", "b", "c", "d", "e", "f"})
    notes.Add(std::string("/Game/x.") + kind, "windows", kMiB, kMiB);
  const std::vector<std::string> lines = notes.Lines();
  ASSERT_THAT(lines, SizeIs(7));
  EXPECT_EQ(lines.back(), "  and 1 smaller kind (`galley ls --sort size` lists all packages)");
}

}  // namespace
}  // namespace galley::director
