#include "director/host/left_out.h"

#include "director/journal/testing/forwarding_journal.h"
#include "director/shell/shell_test_world.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// CountingJournal: a Journal that counts the questions for packages that look at files.
class CountingJournal final : public ForwardingJournal {
 public:
  using ForwardingJournal::ForwardingJournal;
  absl::StatusOr<std::vector<std::string>> Affected(
      std::span<const content::Change> changes) override {
    ++asked;
    return ForwardingJournal::Affected(changes);
  }
  size_t asked = 0;
};

class LeftOutTest : public ShellTest {
 protected:
  std::vector<std::string> Unmatched() {
    const auto world = MakeWorld();
    std::vector<std::string> paths;
    for (const content::FileEntry* file :
         UnmatchedFiles(*world->project, *world->table, journal_of_reads_))
      paths.push_back(file->path);
    return paths;
  }
  Journal* journal_of_reads_ = nullptr;
  std::vector<std::string> Stray() { return StraySidecars(*MakeWorld()->table); }
};

TEST_F(LeftOutTest, FilesThatNoRuleMatchesAreNamed) {
  Write("content/a.txt", "");
  Write("content/notes.md", "");
  Write("content/old/b.psd", "");
  Write("content/odd.bin", "");
  Write("content/odd.bin.cook", "cooker = \"copy\"");
  Write("content/gone.png.cook", "");
  Link("/etc/passwd", "content/out.bin");
  EXPECT_THAT(Unmatched(), ElementsAre("/Game/notes.md", "/Game/old/b.psd"));
}

TEST_F(LeftOutTest, WhatAPackageHasReadIsNotMissedAndTheJournalIsAskedOnceForAllFiles) {
  Write("content/a.txt", "");
  for (const char* name : {"read.inc", "seen.inc", "by_gone.inc", "1.psd", "2.psd", "far/read.inc"})
    Write(std::string("content/") + name, "");
  const auto looked = [](record::ObservationKind kind, const std::string& path) {
    return record::Observed{{.kind = kind, .subject = path}, "1"};
  };
  using enum record::ObservationKind;
  JournalUpdate reader{.package = "/Game/a.txt", .platform = "windows"};
  reader.record.observed = {looked(kFile, "read.inc"), looked(kExists, "seen.inc"),
                            looked(kFile, "/Game/far/read.inc")};
  JournalUpdate gone{.package = "/Game/gone.txt", .platform = "windows"};
  gone.record.observed = {looked(kFile, "by_gone.inc")};
  for (JournalUpdate* const one : {&reader, &gone}) {
    one->record.result = record::EncodeResult({});
    one->record.recipe_bytes = record::EncodeRecipe({.cooker = "copy"});
  }
  const std::unique_ptr<Journal> journal = Journal::Open(Host("state")).value();
  ASSERT_TRUE(journal->Record(std::vector{reader, gone}, true).ok());
  CountingJournal counting(*journal);
  journal_of_reads_ = &counting;
  EXPECT_THAT(Unmatched(),
              ElementsAre("/Game/1.psd", "/Game/2.psd", "/Game/by_gone.inc", "/Game/seen.inc"));
  EXPECT_EQ(counting.asked, 1u);
}

TEST_F(LeftOutTest, TheProjectFileIsNotMissed) {
  Write("galley.toml", "");
  Write("a.md", "");
  options_.mounts = {{.path = "/Game", .directory = dir_}};
  EXPECT_THAT(Unmatched(), ElementsAre("/Game/a.md"));
}

TEST_F(LeftOutTest, ASidecarWithoutItsFileIsToldWithTheLikelyNewName) {
  Write("content/props/barrel_01.png", "");
  Write("content/props/barrel.png.cook", "");
  Write("content/props/crate.png", "");
  Write("content/props/crate.png.cook", "");
  EXPECT_THAT(
      Stray(),
      ElementsAre("the sidecar /Game/props/barrel.png.cook has no effect: there is no file "
                  "/Game/props/barrel.png; if that is /Game/props/barrel_01.png now, rename the "
                  "sidecar to /Game/props/barrel_01.png.cook"));
}

TEST_F(LeftOutTest, AFileThatMovedIsFoundByItsName) {
  Write("content/new/barrel.png", "");
  Write("content/old/barrel.png.cook", "");
  Write("content/old/lamp.png.cook", "");
  EXPECT_THAT(Stray(), ElementsAre(HasSubstr("if that is /Game/new/barrel.png now"),
                                   HasSubstr("there is no file /Game/old/lamp.png; remove")));
}

TEST_F(LeftOutTest, WhatHasASidecarIsNoNewName) {
  Write("content/barrel1.png", "");
  Write("content/barrel1.png.cook", "");
  Write("content/barrel.png.cook", "");
  EXPECT_THAT(Stray(), ElementsAre(testing::Not(HasSubstr("barrel1"))));
}

TEST_F(LeftOutTest, SandboxesUnderTheMountsAreNumberedAndNamed) {
  EXPECT_EQ(SandboxesAmongContent(*MakeWorld()->snapshot), "");
  for (const char* name : {"a", "b", "c", "d"})
    Write(fmt::format("content/out/{}/.galley-sandbox", name), "");
  EXPECT_THAT(SandboxesAmongContent(*MakeWorld()->snapshot),
              testing::AllOf(HasSubstr("4 folders under the mounts are sandboxes of cooked files"),
                             HasSubstr("content/out/a, "), HasSubstr("content/out/c and 1 more;"),
                             HasSubstr("if one of them is content (a copy of cooked files), delete "
                                       "the file .galley-sandbox in that one; else leave them "
                                       "there, or move them out of the mounts")));
}

}  // namespace
}  // namespace galley::director
