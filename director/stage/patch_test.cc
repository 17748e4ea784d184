// PatchTest: a patch, made and applied.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <random>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/base/zstd_stream.h"
#include "common/store/testing/memory_store.h"
#include "director/stage/apply_patch.h"
#include "director/stage/make_patch.h"
#include "director/stage/patch_reader.h"
#include "director/stage/patch_writer.h"
#include "director/stage/sandbox.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using tree::Difference;
using Kind = Difference::Kind;

// Path -> content; the path of an executable file ends in '!'. Stands for a tree and for a folder:
// in a folder, a folder without files shows as "<path>/", and anything else as "?".
using Files = std::map<std::string, std::string>;

std::string Random(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

class PatchTest : public testing::Test {
 protected:
  PatchTest() : home_(*MakeTemporaryDirectory(testing::TempDir(), "patch-")) {}
  ~PatchTest() override { static_cast<void>(RemoveAll(home_)); }

  std::string In(const std::string& name) const { return home_ + "/" + name; }

  Digest Put(const Files& files) {
    std::vector<tree::TreeFile> list;
    for (const auto& [key, bytes] : files) {
      const bool is_executable = key.back() == '!';
      const Digest digest = Digest::Of(bytes);
      EXPECT_TRUE(store_.Put(digest, bytes).ok());
      list.push_back({key.substr(0, key.size() - (is_executable ? 1 : 0)), digest, is_executable});
    }
    const tree::BuiltTree built =
        tree::BuildTree(list, [](std::string_view name) { return std::string(name); });
    EXPECT_TRUE(built.conflicts.empty());
    for (const auto& [digest, bytes] : built.directories)
      EXPECT_TRUE(store_.Put(digest, bytes).ok());
    return built.root;
  }

  // Makes a new folder with these files.
  std::string LayOut(const Files& files) {
    const std::string folder = In("dir");
    EXPECT_TRUE(RemoveAll(folder).ok());
    auto sandbox = Sandbox::Open(folder);
    for (const auto& [key, bytes] : files) {
      const bool is_executable = key.back() == '!';
      EXPECT_TRUE(
          sandbox->Write(key.substr(0, key.size() - (is_executable ? 1 : 0)), bytes, is_executable)
              .ok());
    }
    return folder;
  }

  static Files Show(const std::string& folder) {
    Files files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string path = fs::relative(entry.path(), folder).string();
      if (entry.is_directory() && !entry.is_symlink()) {
        if (fs::is_empty(entry.path())) files[path + "/"] = "";
        continue;
      }
      const auto stat = StatFile(entry.path().string(), /*follow_links=*/false);
      if (!S_ISREG(stat->mode)) {
        files[path] = "?";
      } else {
        files[path + ((stat->mode & S_IXUSR) != 0 ? "!" : "")] = *ReadFile(entry.path().string());
      }
    }
    return files;
  }

  PatchReport Make(const Files& before, const Files& after) {
    const auto report = MakePatch(store_, Put(before), Put(after), In("patch"));
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(PatchReport());
  }

  absl::StatusOr<ApplyReport> Apply() { return ApplyPatch(In("patch"), In("dir")); }

  // Writes a patch with an index that MakePatch would not write; everything around the index is
  // right.
  void Forge(PatchIndex index, std::string_view literals) {
    static_cast<void>(RemoveAll(In("patch")));
    const FileDescriptor file(::open(In("patch").c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644));
    PatchWriter writer(file.get(), In("patch"));
    ASSERT_TRUE(writer.AddLiteral(literals).ok());
    ASSERT_TRUE(writer.Finish(std::move(index)).ok());
  }

  void ExpectRefused(absl::StatusCode code, const std::string& text, const Files& shown) {
    const auto report = Apply();
    EXPECT_EQ(report.status().code(), code) << report.status();
    EXPECT_THAT(std::string(report.status().message()), HasSubstr(text));
    EXPECT_EQ(Show(In("dir")), shown);
  }

  store::MemoryStore store_;
  const std::string home_;
};

TEST_F(PatchTest, MakesTheNewTreeFromTheOld) {
  const Files before = {
      {"same", "same"}, {"a", "old"}, {"gone/x", "xx"}, {"moved/y", "yy"}, {"tool", "t"}};
  const Files after = {{"same", "same"},  {"a", "new"},   {"b/c/d", "added"},
                       {"there/y", "yy"}, {"tool!", "t"}, {"empty", ""}};
  Make(before, after);
  LayOut(before);
  const auto report = Apply();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(Show(In("dir")), after);
  EXPECT_EQ(report->written, 4u);
  EXPECT_EQ(report->renamed, 1u);
  EXPECT_EQ(report->removed, 1u);
  EXPECT_EQ(report->kept, 0u);
  EXPECT_FALSE(report->is_resumed);
  // A second run finds everything done.
  const auto again = Apply();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->kept, 6u);
  EXPECT_EQ(again->written + again->renamed + again->removed, 0u);
  EXPECT_EQ(Show(In("dir")), after);
}

TEST_F(PatchTest, FilesBecomeFoldersAndFoldersFiles) {
  const Files before = {{"a", "1"}, {"b/c/d", "2"}, {"b/e", "3"}, {"k", "4"}, {"l/m", "5"}};
  const Files after = {{"a/x/y", "1"}, {"b", "3"}, {"k/k", "6"}, {"l/m", "5"}, {"l/n", "7"}};
  Make(before, after);
  LayOut(before);
  ASSERT_TRUE(Apply().ok());
  EXPECT_EQ(Show(In("dir")), after);
  Make(after, before);
  ASSERT_TRUE(Apply().ok());
  EXPECT_EQ(Show(In("dir")), before);
}

// Returns mutated contents of trees: parts are moved, repeated, inserted, cut.
std::string Mutated(const std::string& bytes, std::mt19937& random) {
  std::string result = bytes;
  for (auto edits = random() % 4; edits > 0; --edits) {
    const size_t at = random() % (result.size() + 1);
    const std::string piece = Random(random() % 300, static_cast<uint32_t>(random()));
    switch (random() % 3) {
      case 0:
        result.insert(at, piece);
        break;
      case 1:
        result.erase(at, random() % 5000);
        break;
      default:
        if (!bytes.empty()) result.insert(at, bytes.substr(random() % bytes.size(), 40'000));
    }
  }
  return result;
}

void AddRandom(Files& files, const std::string& folder, int depth, std::vector<std::string>& pool,
               std::mt19937& random) {
  for (const char* name : {"a", "b", "c"}) {
    const auto kind = random() % 8;
    if (kind < 3) continue;
    if (kind < 5 && depth < 3) {
      AddRandom(files, folder + name + "/", depth + 1, pool, random);
      continue;
    }
    std::string bytes = pool[random() % pool.size()];
    if (random() % 2 == 0) pool.push_back(bytes = Mutated(bytes, random));
    files[folder + name + (random() % 4 == 0 ? "!" : "")] = bytes;
  }
}

TEST_F(PatchTest, ApplyingThePatchOfTwoTreesGivesTheSecond) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::string> pool = {"", "small", Random(20'000, seed), Random(150'000, seed + 1),
                                     std::string(200'000, 'z')};
    Files before, after;
    AddRandom(before, "", 0, pool, random);
    AddRandom(after, "", 0, pool, random);
    const PatchReport made = Make(before, after);
    EXPECT_LE(made.bytes_literal, made.bytes_new);
    LayOut(before);
    const auto report = Apply();
    ASSERT_TRUE(report.ok()) << "seed " << seed << ": " << report.status();
    ASSERT_EQ(Show(In("dir")), after) << "seed " << seed;
  }
}

TEST_F(PatchTest, EqualTreesMakeEqualPatches) {
  const Files before = {{"a", Random(200'000, 1)}, {"b", Random(100'000, 2)}};
  Files after = before;
  after["a"].insert(5000, "x");
  after["c"] = before.at("b") + "y";
  Make(before, after);
  const std::string first = *ReadFile(In("patch"));
  Make(before, after);
  EXPECT_EQ(*ReadFile(In("patch")), first);
}

TEST_F(PatchTest, ASmallChangeInALargeFileMakesASmallPatch) {
  const std::string large = Random(100 << 20, 1);
  std::string changed = large;
  changed.insert(50 << 20, "a few bytes more");
  changed.erase(70 << 20, 3);
  changed[5] = static_cast<char>(changed[5] + 1);
  Files before = {{"large", large}}, after = {{"large", changed}};
  const PatchReport report = Make(before, after);
  EXPECT_LT(report.bytes_written, 100u << 10);
  EXPECT_EQ(report.bytes_written, StatFile(In("patch"))->size_bytes);
  // Pieces that lie side by side are merged: three changes are at most four stretches of the old
  // file, with new bytes between.
  EXPECT_LE(PatchReader::Open(In("patch"))->index().recipes[0].pieces.size(), 7u);
  LayOut(before);
  ASSERT_TRUE(Apply().ok());
  EXPECT_EQ(Digest::Of(*ReadFile(In("dir/large"))), Digest::Of(changed));
}

TEST_F(PatchTest, WhatTheOldTreeHasAnywhereCostsNothing) {
  const Files before = {{"a", Random(300'000, 1)}, {"gone", Random(300'000, 2)}};
  const PatchReport copied = Make(
      before, {{"a", before.at("a")}, {"b", before.at("a")}, {"there/gone", before.at("gone")}});
  EXPECT_EQ(copied.bytes_new, 0u);
  EXPECT_EQ(copied.bytes_literal, 0u);
  EXPECT_LT(copied.bytes_written, 500u);
  // A new file of old parts, and the same new bytes in two files.
  const std::string fresh = Random(1'000'000, 3);
  const PatchReport parts = Make(before, {{"a", before.at("gone") + before.at("a") + fresh},
                                          {"b", fresh + before.at("gone")}});
  EXPECT_LT(parts.bytes_literal, 1'300'000u);
}

TEST_F(PatchTest, NothingOfATruncatedPatchIsUsed) {
  const Files before = {{"a", "old"}, {"b", "bb"}};
  Make(before, {{"a", "new"}, {"c", Random(3000, 1)}});
  LayOut(before);
  const std::string whole = *ReadFile(In("patch"));
  for (size_t size = 0; size < whole.size(); ++size) {
    ASSERT_TRUE(WriteFileAtomic(In("patch"), whole.substr(0, size)).ok());
    const auto report = Apply();
    ASSERT_EQ(report.status().code(), absl::StatusCode::kDataLoss)
        << size << " " << report.status();
  }
  ASSERT_TRUE(WriteFileAtomic(In("patch"), whole + "x").ok());
  EXPECT_EQ(Apply().status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Show(In("dir")), before);
}

TEST_F(PatchTest, NothingOfAPatchWithWrongBitsIsUsed) {
  const Files before = {{"a", "old"}, {"b", "bb"}};
  Make(before, {{"a", "new"}, {"c", Random(3000, 1)}});
  LayOut(before);
  const std::string whole = *ReadFile(In("patch"));
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string wrong = whole;
    wrong[random() % wrong.size()] ^= static_cast<char>(1 << random() % 8);
    ASSERT_TRUE(WriteFileAtomic(In("patch"), wrong).ok());
    const auto report = Apply();
    ASSERT_EQ(report.status().code(), absl::StatusCode::kDataLoss) << report.status();
  }
  EXPECT_EQ(Show(In("dir")), before);
}

// Every checksum is right.
TEST_F(PatchTest, AForgedPatchIsRefusedBeforeAnythingIsTouched) {
  const Files before = {{"a", "old"}};
  LayOut(before);
  PatchIndex index;
  index.differences = {{Kind::kAdded, {}, {"../evil", Digest::Of("evil")}}};
  index.recipes = {{Digest::Of("evil"), {{0, 0, 4}}}};
  Forge(index, "evil");
  ExpectRefused(absl::StatusCode::kDataLoss, "a path is not plain", before);
  EXPECT_FALSE(FileExists(In("evil")));
  // The resulting bytes are not the promised bytes. What another patch left is in nobody's way
  // then.
  index.differences[0].after.path = "b";
  Forge(index, "EVIL");
  ASSERT_TRUE(Sandbox::Open(In("dir"))->Write(".galley-apply/another-7", "x", false).ok());
  const auto report = Apply();
  EXPECT_EQ(report.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("does not come out"));
  EXPECT_EQ(Show(In("dir")), (Files{{".galley-apply/", ""}, {"a", "old"}}));
  Forge(index, "evil");
  EXPECT_TRUE(Apply().ok());
  EXPECT_EQ(Show(In("dir")), (Files{{"a", "old"}, {"b", "evil"}}));
}

TEST_F(PatchTest, AnIndexThatIsABombIsRefused) {
  LayOut({});
  PatchTrailer trailer{.index_bytes = 900 << 20};
  std::string bytes = EncodePatchHeader();
  const std::string packed = ZstdCompress(std::string(1 << 20, '\0'));
  trailer.index_packed_bytes = packed.size();
  bytes += packed + EncodePatchSizes(trailer);
  bytes += Digest::Of(bytes).hash();
  ASSERT_TRUE(WriteFileAtomic(In("patch"), bytes).ok());
  ExpectRefused(absl::StatusCode::kDataLoss, "its index is no index", {});
}

TEST_F(PatchTest, BytesThatAreNobodysAreRefused) {
  const Files before = {{"a", "old"}};
  Make(before, {{"a", "new"}});
  LayOut(before);
  std::string bytes = *ReadFile(In("patch"));
  bytes.insert(kPatchHeaderBytes, "nobody's");
  bytes.resize(bytes.size() - Digest::kHashSize);
  bytes += std::string(Digest::Of(bytes).hash());
  ASSERT_TRUE(WriteFileAtomic(In("patch"), bytes).ok());
  ExpectRefused(absl::StatusCode::kDataLoss, "its frames do not fill it", before);
}

TEST_F(PatchTest, AFolderThatIsNotTheOldTreeIsLeftAsItIs) {
  const std::string large = Random(100'000, 1);
  const Files before = {{"a", "old"},     {"b", "bb"},   {"c/d", "dd"},
                        {"large", large}, {"same", "s"}, {"source", "copied"}};
  Make(before, {{"a", "new"},
                {"c/e", "dd"},
                {"f", "ff"},
                {"large", large + "x"},
                {"same", "s"},
                {"source", "copied"},
                {"to", "copied"}});
  const auto refused = [&](const std::string& text, const Files& files) {
    LayOut(files);
    ExpectRefused(absl::StatusCode::kFailedPrecondition, text, files);
  };
  const auto with = [&](const std::string& path, const std::string& bytes) {
    Files files = before;
    files[path] = bytes;
    return files;
  };
  Files without = before;
  without.erase("large");
  refused("dir/a is not as in the tree", with("a", "mine"));
  refused("dir/b is not as in the tree", with("b", "mine"));
  refused("dir/c/d is not as in the tree", with("c/d", "mine"));
  refused("dir/large is not as in the tree", without);
  refused("dir/source is not as in the tree", with("source", "mine"));
  refused("dir/f lies where the patch puts something else", with("f", "mine"));
  refused("dir/c/e lies where the patch puts something else", with("c/e", "mine"));
  refused("dir/f/mine lies where the patch puts something else", with("f/mine", "x"));
  LayOut(before);
  fs::create_directory(In("dir/f"));
  ExpectRefused(absl::StatusCode::kFailedPrecondition,
                "dir/f lies where the patch puts something else", with("f/", ""));
  fs::remove(In("dir/f"));
  // Files that the patch does not name may be anything.
  ASSERT_TRUE(WriteFileAtomic(In("dir/same"), "mine").ok());
  ASSERT_TRUE(WriteFileAtomic(In("dir/mine"), "mine").ok());
  EXPECT_TRUE(Apply().ok());
  EXPECT_EQ(*ReadFile(In("dir/same")) + *ReadFile(In("dir/mine")), "minemine");
}

TEST_F(PatchTest, LinksAreNotFollowed) {
  const Files before = {{"a", "old"}, {"c/d", "dd"}};
  Make(before, {{"a", "new"}, {"c/d", "d2"}, {"e/f", "ff"}});
  LayOut(before);
  fs::create_directory(In("outside"));
  ASSERT_TRUE(WriteFileAtomic(In("outside/d"), "dd").ok());
  fs::remove_all(In("dir/c"));
  fs::create_directory_symlink(In("outside"), In("dir/c"));
  EXPECT_EQ(Apply().status().code(), absl::StatusCode::kFailedPrecondition);
  LayOut(before);
  fs::create_directory_symlink(In("outside"), In("dir/e"));
  EXPECT_EQ(Apply().status().code(), absl::StatusCode::kFailedPrecondition);
  LayOut(before);
  fs::create_directory_symlink(In("outside"), In("dir/.galley-apply"));
  EXPECT_TRUE(Apply().ok());
  EXPECT_EQ(Show(In("outside")), (Files{{"d", "dd"}}));
}

TEST_F(PatchTest, WhatIsThereAlreadyIsKept) {
  const Files before = {{"a", "old"}, {"b", "bb"}, {"c", "cc"}};
  const Files after = {{"a", "new"}, {"d", "cc"}, {"e", "ee"}};
  Make(before, after);
  LayOut({{"a", "new"}, {"b", "bb"}, {"d", "cc"}, {"c", "cc"}, {"e", "ee"}});
  const auto report = Apply();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->kept, 2u);  // a and e
  EXPECT_EQ(Show(In("dir")), after);
}

TEST_F(PatchTest, WhatAnInterruptedRunMadeIsUsedAgain) {
  const Files before = {{"a", Random(50'000, 1)}}, after = {{"a", Random(60'000, 2)}, {"b", "bb"}};
  Make(before, after);
  LayOut(before);
  const std::string prefix = PatchReader::Open(In("patch"))->digest().hex().substr(0, 16) + "-";
  auto sandbox = Sandbox::Open(In("dir"));
  ASSERT_TRUE(sandbox->Write(".galley-apply/" + prefix + "0", after.at("a"), false).ok());
  ASSERT_TRUE(sandbox->Write(".galley-apply/" + prefix + "1", "b", false).ok());  // half written
  ASSERT_TRUE(sandbox->Write(".galley-apply/another-7", "x", false).ok());
  const auto report = Apply();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->bytes_written, 2u);
  EXPECT_EQ(report->written, 2u);
  EXPECT_EQ(Show(In("dir")), after);
}

// After the journal the files of the old tree are neither needed nor looked at.
TEST_F(PatchTest, AfterTheJournalItGoesForwardOnly) {
  const Files before = {{"a", "old"}, {"b", "bb"}, {"c", "cc"}};
  const Files after = {{"a", "new"}, {"d", "cc"}, {"e", "ee"}};
  Make(before, after);
  const Digest patch = PatchReader::Open(In("patch"))->digest();
  const std::string prefix = ".galley-apply/" + patch.hex().substr(0, 16) + "-";
  const std::string journal = "galley-apply 1\n" + patch.ToString() + "\n";
  // The run was killed when "a" was in its place, "b" and "c" were gone, "d" and "e" still to come.
  const Files half = {
      {"a", "new"}, {prefix + "2", "cc"}, {prefix + "3", "ee"}, {".galley-apply/journal", journal}};
  LayOut(half);
  const auto report = Apply();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->is_resumed);
  EXPECT_EQ(Show(In("dir")), after);

  LayOut({{"a", "mine"},
          {prefix + "2", "cc"},
          {prefix + "3", "ee"},
          {".galley-apply/journal", journal}});
  EXPECT_THAT(std::string(Apply().status().message()), HasSubstr("was changed while"));

  LayOut(half);
  Make({{"x", "1"}}, {{"x", "2"}});
  ExpectRefused(absl::StatusCode::kFailedPrecondition, "another patch was begun", half);
}

TEST_F(PatchTest, AFolderThatIsWorkedOnIsLeftAlone) {
  const Files before = {{"a", "old"}};
  Make(before, {{"a", "new"}});
  LayOut(before);
  const FileDescriptor other(::open(In("dir").c_str(), O_RDONLY | O_DIRECTORY));
  ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  ExpectRefused(absl::StatusCode::kFailedPrecondition,
                "another cook, apply or checkout works on it", before);
}

TEST_F(PatchTest, AStagedSandboxIsNoLongerTakenForItsOldRoot) {
  const Files before = {{"a", "old"}};
  Make(before, {{"a", "new"}});
  LayOut({{"a", "old"}, {".galley-root", "x"}});
  ASSERT_TRUE(Apply().ok());
  EXPECT_EQ(Show(In("dir")), (Files{{"a", "new"}}));
}

TEST_F(PatchTest, WhatIsGalleysInASandboxStaysKnown) {
  Make({{"a", "old"}, {"b", "gone"}}, {{"a", "new"}, {"c", "come"}});
  const std::string root = Digest::Of("the root that was staged").ToString();
  LayOut({{"a", "old"}, {"b", "gone"}, {".galley-root", root + "\n/\na\nb\n"}});
  ASSERT_TRUE(Apply().ok());
  const std::string text = "root " + root + "\npath a\npath c\nend\n";
  EXPECT_EQ(Show(In("dir")),
            (Files{{"a", "new"},
                   {"c", "come"},
                   {".galley-root.pending", text + "sum " + Digest::Of(text).hex() + "\n"}}));
}

TEST_F(PatchTest, NamesWhatIsNotThere) {
  EXPECT_EQ(Apply().status().code(), absl::StatusCode::kNotFound);
  Make({{"a", "1"}}, {{"a", "2"}});
  EXPECT_EQ(Apply().status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(FileExists(In("dir")));
}

TEST_F(PatchTest, APatchAppearsWholeOrNotAtAll) {
  const Digest from = Put({{"a", "1"}}), to = Put({{"a", "2"}, {"b", "3"}});
  store_.Drop(Digest::Of("3"));
  const auto report = MakePatch(store_, from, to, In("patch"));
  EXPECT_EQ(report.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("reading b"));
  EXPECT_TRUE(fs::is_empty(home_));
  const auto own = MakePatch(store_, from, Put({{".galley-apply/x", "1"}}), In("patch"));
  EXPECT_EQ(own.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(PatchTest, AnInterruptedOneLeavesNothing) {
  const Files before = {{"a", Random(300'000, 1)}}, after = {{"a", Random(300'000, 2)}};
  const std::atomic<bool> interrupted = true;
  const Digest from = Put(before), to = Put(after);
  const auto made = MakePatch(store_, from, to, In("patch"), &interrupted);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(made.status().message(), HasSubstr("patch was not written"));
  EXPECT_TRUE(fs::is_empty(home_));
  Make(before, after);
  const std::string folder = LayOut(before);
  const auto applied = ApplyPatch(In("patch"), folder, &interrupted);
  EXPECT_EQ(applied.status().code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(applied.status().message(), HasSubstr("no file of " + folder + " was changed"));
  EXPECT_EQ(Show(folder), before);
  ASSERT_TRUE(Apply().ok());
  EXPECT_EQ(Show(folder), after);
}

TEST_F(PatchTest, AFolderWhoseCheckoutWasCutOffIsNoTree) {
  const Files before = {{"a", "old"}}, after = {{"a", "new"}};
  Make(before, after);
  const std::string folder = LayOut(before);
  ASSERT_TRUE(WriteFileAtomic(folder + "/.galley-checkout", "x").ok());
  EXPECT_THAT(Apply().status().message(), HasSubstr("check it out again first"));
}

TEST_F(PatchTest, IsNotMadeWhereNoFileCanBe) {
  const auto made = MakePatch(store_, Put({{"a", "1"}}), Put({{"a", "2"}}), In("nowhere/patch"));
  EXPECT_EQ(made.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(made.status().message(), HasSubstr("name a file in a folder that is there"));
}

}  // namespace
}  // namespace galley::director
