#include "director/standing/members.h"

#include <gtest/gtest.h>

#include <random>

#include "common/base/file.h"
#include "common/base/temporary_folder.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

const std::vector<std::string> kPlatforms = {"pc", "android"};  // not in the order of their names

Member MemberOf(const std::string& package, uint32_t roots, const std::string& pc,
                const std::string& android = "") {
  const auto key = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(Digest::Of(text));
  };
  return {.package = package, .roots = roots, .keys = {key(pc), key(android)}};
}

Members TableOf(const std::vector<Member>& members) {
  auto table = Members::FromBytes(EncodeMembers(kPlatforms, members).bytes);
  EXPECT_TRUE(table.ok()) << table.status();
  return *std::move(table);
}

DoneKeys DoneOf(const std::vector<Member>& members) {
  DoneKeys done;
  for (const Member& member : members) {
    for (size_t p = 0; p < kPlatforms.size(); ++p) {
      if (member.keys[p]) done.emplace(std::pair(member.package, kPlatforms[p]), *member.keys[p]);
    }
  }
  return done;
}

TEST(MembersTest, EachIsFoundAsItWasGiven) {
  const std::vector<Member> all = {MemberOf("/Game/b", 3, "1", "2"), MemberOf("/Game/a", 1, "3"),
                                   MemberOf("/Game/c", 0, "", "4"), MemberOf("/Game/d", 0, "")};
  const Members table = TableOf(all);
  EXPECT_EQ(table.size(), 4u);
  EXPECT_EQ(table.platforms(), kPlatforms);
  for (const Member& member : all) EXPECT_EQ(table.Find(member.package), member);
  EXPECT_EQ(table.RootsOf("/Game/b"), 3u);
  EXPECT_EQ(table.RootsOf("/Game/bb"), 0u);
  EXPECT_FALSE(table.Find("/Game/bb").has_value());
  EXPECT_FALSE(TableOf({}).Find("/Game/b").has_value());
}

TEST(MembersTest, TheSnapshotIsOfWhatIsDone) {
  const std::vector<Member> all = {MemberOf("/Game/b", 3, "1", "2"), MemberOf("/Game/a", 1, "3")};
  EXPECT_EQ(TableOf(all).snapshot(), DigestOfDone(DoneOf(all)));
  EXPECT_EQ(EncodeMembers(kPlatforms, all).snapshot, DigestOfDone(DoneOf(all)));
  EXPECT_EQ(TableOf({}).snapshot(), DigestOfDone({}));
  const std::vector<Member> failed = {MemberOf("/Game/b", 3, "")};
  EXPECT_EQ(TableOf(failed).snapshot(), DigestOfDone(DoneOf(failed)));
  EXPECT_NE(TableOf(all).snapshot(), TableOf({all[0]}).snapshot());
}

TEST(MembersTest, ATableIsOpenedFromItsFileAndKnownByItsId) {
  const auto folder = TemporaryFolder::Make(testing::TempDir(), "members_test");
  ASSERT_TRUE(folder.ok());
  const std::string file = JoinPath(folder->path(), "members");
  const std::string bytes = EncodeMembers(kPlatforms, {MemberOf("/Game/b", 3, "1", "2")}).bytes;
  ASSERT_TRUE(WriteFileAtomic(file, bytes).ok());
  const auto table = Members::Open(file);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->id(), content::PatchedFile::IdOf(bytes));
  EXPECT_TRUE(absl::IsNotFound(Members::Open(file + "x").status()));
}

TEST(MembersTest, EveryDamageIsFound) {
  const std::string bytes =
      EncodeMembers(kPlatforms, {MemberOf("/Game/b", 3, "1", "2"), MemberOf("/Game/a", 1, "3")})
          .bytes;
  std::mt19937 random(3);
  for (size_t i = 0; i < 2000; ++i) {
    std::string damaged = bytes;
    const size_t at = random() % damaged.size();
    damaged[at] ^= static_cast<char>(1 << random() % 8);
    const absl::Status read = Members::FromBytes(damaged).status();
    EXPECT_TRUE(at == 7 ? absl::IsFailedPrecondition(read) : absl::IsInvalidArgument(read)) << read;
  }
  for (const size_t size : {size_t{0}, size_t{10}, size_t{48}, bytes.size() - 1})
    EXPECT_TRUE(absl::IsInvalidArgument(Members::FromBytes(bytes.substr(0, size)).status()));
}

// A changed table equals a new table of its members, whatever changed.
TEST(MembersTest, AChangedTableIsTheTableOfItsMembers) {
  const auto folder = TemporaryFolder::Make(testing::TempDir(), "members_test");
  ASSERT_TRUE(folder.ok());
  const std::string file = JoinPath(folder->path(), "members");
  bool was_patch = false, was_whole = false;
  std::mt19937 random(5);
  std::map<std::string, Member> all;
  std::optional<Members> table = TableOf({});
  for (int round = 0; round < 200; ++round) {
    std::vector<Member> changed;
    std::map<std::string, bool> taken;
    for (size_t i = random() % 6; i > 0; --i) {
      const std::string package = fmt::format("/Game/{}", random() % (round < 100 ? 300 : 60));
      if (!taken.emplace(package, true).second) continue;
      changed.push_back(MemberOf(package, random() % 4, std::to_string(random() % 9),
                                 random() % 3 == 0 ? "" : std::to_string(random() % 9)));
      all[package] = changed.back();
    }
    std::set<std::string, std::less<>> gone;
    for (size_t i = random() % 3; round % 3 == 0 && i > 0; --i) {
      const std::string package = fmt::format("/Game/{}", random() % 300);
      if (!taken.contains(package)) gone.insert(package);
    }
    for (const std::string& package : gone) all.erase(package);
    const MembersFile with = table->With(changed, gone);
    was_patch |= content::PatchedFile::IsPatch(with.bytes);
    was_whole |= round > 0 && gone.empty() && !content::PatchedFile::IsPatch(with.bytes);
    ASSERT_TRUE(content::PatchedFile::Write(file, with.bytes).ok());
    auto next = Members::Open(file);
    ASSERT_TRUE(next.ok()) << next.status();
    table = *std::move(next);
    ASSERT_EQ(table->snapshot(), with.snapshot);
    std::vector<Member> members;
    for (const auto& [package, member] : all) members.push_back(member);
    ASSERT_EQ(table->snapshot(), TableOf(members).snapshot());
    ASSERT_EQ(table->size(), members.size());
    for (const Member& member : members) ASSERT_EQ(table->Find(member.package), member);
    for (const std::string& package : gone) ASSERT_FALSE(table->Find(package).has_value());
  }
  EXPECT_TRUE(was_patch);
  EXPECT_TRUE(was_whole);
}

}  // namespace
}  // namespace galley::director
