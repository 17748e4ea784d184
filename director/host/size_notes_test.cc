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
