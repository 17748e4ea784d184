#include "common/tree/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <sstream>
#include <tuple>

#include "common/tree/testing/counted_blobs.h"

namespace galley::tree {
namespace {

std::string LowerCase(std::string_view path) {
  std::string text(path);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return text;
}

// "a/b=text c!=text": files with their contents; '!' marks an executable; without '=' the path is
// the content.
std::vector<TreeFile> Files(const std::string& text) {
  std::vector<TreeFile> files;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    std::string path = word.substr(0, equals);
    const std::string content = equals == std::string::npos ? path : word.substr(equals + 1);
    const bool is_executable = path.back() == '!';
    if (is_executable) path.pop_back();
    files.push_back({path, Digest::Of(content), is_executable});
  }
  return files;
}

// Folders in memory, and the number of reads.
class Folders : public CountedBlobs {
 public:
  Digest Build(const std::vector<TreeFile>& files) {
    const BuiltTree tree = BuildTree(files, LowerCase);
    EXPECT_TRUE(tree.conflicts.empty());
    AddAll(tree.directories);
    return tree.root;
  }
};

std::string Conflicts(const std::string& text) {
  const std::vector<TreeFile> files = Files(text);
  std::string lines;
  for (const Conflict& conflict : BuildTree(files, LowerCase).conflicts) {
    lines += files[conflict.first].path + " " + files[conflict.second].path + ": " +
             conflict.reason + "\n";
  }
  return lines;
}

std::string TextOf(const std::vector<Difference>& differences) {
  std::string lines;
  for (const Difference& difference : differences) {
    switch (difference.kind) {
      case Difference::Kind::kAdded:
        lines += "+" + difference.after.path + " ";
        break;
      case Difference::Kind::kRemoved:
        lines += "-" + difference.before.path + " ";
        break;
      case Difference::Kind::kChanged:
        lines += "~" + difference.after.path + " ";
        break;
      case Difference::Kind::kRenamed:
        lines += difference.before.path + ">" + difference.after.path + " ";
        break;
    }
  }
  return lines;
}

std::vector<Difference> DifferencesOf(const std::string& before, const std::string& after) {
  Folders folders;
  const Digest a = folders.Build(Files(before)), b = folders.Build(Files(after));
  auto found = DiffTrees(a, b, folders.Read());
  EXPECT_TRUE(found.ok()) << found.status();
  return *std::move(found);
}

std::string Diff(const std::string& before, const std::string& after) {
  return TextOf(DifferencesOf(before, after));
}

std::string Renames(const std::string& before, const std::string& after) {
  return TextOf(FindRenames(DifferencesOf(before, after)));
}

TEST(BuildTreeTest, NoFilesAreTheEmptyRoot) {
  const BuiltTree tree = BuildTree({}, LowerCase);
  EXPECT_EQ(tree.root, Digest());
  EXPECT_EQ(tree.directories.size(), 1u);
}

TEST(BuildTreeTest, FoldersHoldTheirFilesInOrderOfBytes) {
  const BuiltTree tree = BuildTree(Files("b/z a.b a/y! a-b a/x b/c/d"), LowerCase);
  const Directory a{.files = {{"x", Digest::Of("a/x"), false}, {"y", Digest::Of("a/y!"), true}}};
  const Directory c{.files = {{"d", Digest::Of("b/c/d"), false}}};
  const Directory b{.files = {{"z", Digest::Of("b/z"), false}},
                    .directories = {{"c", Digest::Of(EncodeDirectory(c))}}};
  const Directory root{
      .files = {{"a-b", Digest::Of("a-b"), false}, {"a.b", Digest::Of("a.b"), false}},
      .directories = {{"a", Digest::Of(EncodeDirectory(a))},
                      {"b", Digest::Of(EncodeDirectory(b))}}};
  const auto built = tree.directories.find(tree.root);
  ASSERT_NE(built, tree.directories.end());
  // "a/y!" is read with its own path as content.
  EXPECT_EQ(DecodeDirectory(built->second)->files, root.files);
  EXPECT_EQ(tree.directories.size(), 4u);
  EXPECT_TRUE(tree.directories.contains(Digest::Of(EncodeDirectory(b))));
  EXPECT_EQ(tree.root, Digest::Of(EncodeDirectory(root)));
}

TEST(BuildTreeTest, TheOrderOfFilesDoesNotMatter) {
  std::vector<TreeFile> files = Files("a/b a/b.c a.b/c a/B2 b/c/d/e b/c/d.e b/C2/f z");
  const Digest root = BuildTree(files, LowerCase).root;
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    std::shuffle(files.begin(), files.end(), random);
    EXPECT_EQ(BuildTree(files, LowerCase).root, root);
  }
}

TEST(BuildTreeTest, AnyDifferenceGivesAnotherRoot) {
  std::set<Digest> roots;
  for (const char* text :
       {"a/b=1", "a/b=2", "a/b!=1", "a/c=1", "b/b=1", "b=1", "a/b=1 c=1", "a/b/b=1", "a/B=1"}) {
    EXPECT_TRUE(roots.insert(BuildTree(Files(text), LowerCase).root).second) << text;
  }
}

TEST(BuildTreeTest, EqualFoldersAreStoredOnce) {
  EXPECT_EQ(BuildTree(Files("a/x=1 b/x=1 c/d/x=1"), LowerCase).directories.size(), 3u);
}

TEST(BuildTreeTest, TwoOwnersOfOnePathConflict) {
  EXPECT_EQ(Conflicts("a/b c a/b=2"), "a/b a/b: same path\n");
  EXPECT_EQ(Conflicts("a/b c a/b=2 a/b=3"), "a/b a/b: same path\na/b a/b: same path\n");
}

TEST(BuildTreeTest, NamesThatDifferInCaseOnlyConflictAtAnyDepth) {
  EXPECT_EQ(Conflicts("x a/b a/B"), "a/B a/b: differ in case or Unicode form only\n");
  EXPECT_EQ(Conflicts("A/b/c a/b/c"), "A/b/c a/b/c: differ in case or Unicode form only\n");
}

TEST(BuildTreeTest, AFileWhereAFolderIsConflictsAtAnyDepth) {
  EXPECT_EQ(Conflicts("a a.x a/b"), "a a/b: file against folder\n");
  EXPECT_EQ(Conflicts("a/b/c/d a a.x a/b"),
            "a a/b: file against folder\na a/b/c/d: file against folder\n");
  EXPECT_EQ(Conflicts("A/b a"), "a A/b: file against folder\n");
}

TEST(BuildTreeTest, FoldersThatDifferInCaseMayHoldDifferentFiles) {
  EXPECT_EQ(Conflicts("A/b a/c"), "");
  Folders folders;
  EXPECT_EQ(ListTree(folders.Build(Files("A/b a/c")), folders.Read())->size(), 2u);
}

TEST(BuildTreeTest, ConflictsAreThoseOfANaiveComparison) {
  std::mt19937 random(7);
  const char* names[] = {"a", "A", "b", "a.b", "a-"};
  for (int round = 0; round < 300; ++round) {
    std::vector<TreeFile> files;
    for (unsigned i = 0; i < 6; ++i) {
      std::string path = names[random() % 5];
      for (auto depth = random() % 3; depth > 0; --depth)
        path += std::string("/") + names[random() % 5];
      files.push_back({path, Digest(), false});
    }
    std::set<size_t> expected, found;
    for (size_t i = 0; i < files.size(); ++i) {
      for (size_t j = 0; j < files.size(); ++j) {
        const std::string a = LowerCase(files[i].path), b = LowerCase(files[j].path);
        if (i != j && (a == b || b.starts_with(a + "/"))) expected.insert({i, j});
      }
    }
    for (const Conflict& conflict : BuildTree(files, LowerCase).conflicts)
      found.insert({conflict.first, conflict.second});
    ASSERT_EQ(found, expected) << "round " << round;
  }
}

TEST(ListTreeTest, GivesBackTheFilesSortedByPath) {
  std::vector<TreeFile> files = Files("b/z a.b a/y! a-b a/x b/c/d");
  Folders folders;
  const auto listed = ListTree(folders.Build(files), folders.Read());
  ASSERT_TRUE(listed.ok()) << listed.status();
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  EXPECT_EQ(*listed, files);
}

TEST(ListTreeTest, AMissingFolderIsNamed) {
  Folders folders;
  const Digest root = folders.Build(Files("a/b/c=1"));
  folders.Forget(folders.Build(Files("c=1")));
  const auto listed = ListTree(root, folders.Read());
  EXPECT_EQ(listed.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(listed.status().ToString().find("folder a/b ("), std::string::npos) << listed.status();
}

// A root above `levels` nested folders, with a single file at the bottom.
Digest Deep(Folders& folders, size_t levels) {
  Digest digest = folders.Add(EncodeDirectory({.files = {{"f", Digest(), false}}}));
  for (size_t i = 1; i < levels; ++i)
    digest = folders.Add(EncodeDirectory({.directories = {{"d", digest}}}));
  return digest;
}

TEST(ListTreeTest, ATreeThatIsTooDeepIsRefused) {
  Folders folders;
  EXPECT_TRUE(ListTree(Deep(folders, kTreeDepthMax), folders.Read()).ok());
  const auto refused = ListTree(Deep(folders, kTreeDepthMax + 1), folders.Read());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(DiffTreesTest, TellsAddedRemovedAndChanged) {
  EXPECT_EQ(Diff("a b/c=1 b/d e/f", "a b/c=2 b/g h/i/j"), "~b/c -b/d +b/g -e/f +h/i/j ");
  EXPECT_EQ(Diff("a", "a"), "");
  EXPECT_EQ(Diff("", "a/b c"), "+a/b +c ");
  EXPECT_EQ(Diff("a/b c", ""), "-a/b -c ");
  EXPECT_EQ(Diff("a=1", "a!=1"), "~a ");
}

TEST(DiffTreesTest, AFileThatBecameAFolderIsRemovedAndAdded) {
  EXPECT_EQ(Diff("a b", "a/b/c b"), "-a +a/b/c ");
  EXPECT_EQ(Diff("a/b/c b", "a b"), "+a -a/b/c ");
}

TEST(FindRenamesTest, PairsWhatIsGoneWithWhatCameByTheirBytes) {
  EXPECT_EQ(Renames("a=1 b=2 c=3", "d=1 b=2 c=4"), "~c a>d ");
  EXPECT_EQ(Renames("z=1", "a=1"), "z>a ");
  EXPECT_EQ(Renames("a=1", "b=2"), "-a +b ");
  EXPECT_EQ(Renames("a", "a"), "");
}

TEST(FindRenamesTest, AFolderThatMovedIsItsFiles) {
  EXPECT_EQ(Renames("x/a x/b/c k", "y/a=x/a y/b/c=x/b/c k"), "x/a>y/a x/b/c>y/b/c ");
}

// A file that is still at its old path was copied.
TEST(FindRenamesTest, ACopyIsAnAddition) {
  EXPECT_EQ(Renames("a=1", "a=1 b=1"), "+b ");
  EXPECT_EQ(Renames("a=1 b=1", "b=1"), "-a ");
  EXPECT_EQ(Renames("a=1", "b=1 c=1"), "a>b +c ");
  EXPECT_EQ(Renames("a=1 b=1", "c=1"), "-b a>c ");
}

TEST(FindRenamesTest, OfEqualBytesTheLongestCommonEndIsPaired) {
  EXPECT_EQ(Renames("a/x=1 b/y=1", "c/y=1 d/x=1"), "b/y>c/y a/x>d/x ");
  EXPECT_EQ(Renames("a/lod/x=1 b/x=1", "c/x=1 d/lod/x=1"), "b/x>c/x a/lod/x>d/lod/x ");
}

// Permission bits are no part of a file's bytes.
TEST(FindRenamesTest, ARenamedFileMayHaveBecomeExecutable) {
  const auto found = FindRenames(DifferencesOf("a=1", "b!=1"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Difference::Kind::kRenamed);
  EXPECT_FALSE(found[0].before.is_executable);
  EXPECT_TRUE(found[0].after.is_executable);
}

TEST(FindRenamesTest, VeryManyOfOneDigestArePairedByPath) {
  std::vector<Difference> differences;
  const Digest digest = Digest::Of("1");
  for (int i = 0; i < 3000; ++i) {
    const std::string path = std::to_string(10'000 + i);
    differences.push_back({Difference::Kind::kRemoved, {"a" + path, digest}, {}});
  }
  for (int i = 0; i < 2999; ++i) {
    const std::string path = std::to_string(10'000 + i);
    // Ordered by their ends, the first would match the last.
    const std::string name = path + "/a" + std::to_string(12'999 - i);
    differences.push_back({Difference::Kind::kAdded, {}, {"b" + name, digest}});
  }
  const auto found = FindRenames(std::move(differences));
  ASSERT_EQ(found.size(), 3000u);
  EXPECT_EQ(TextOf({found[0], found[1], found[2999]}),
            "-a12999 a10000>b10000/a12999 a12998>b12998/a10001 ");
}

// Checked by taking the renames apart again, for every small pair of trees: nothing is lost,
// nothing is paired twice, and no possible pair is left.
TEST(FindRenamesTest, PairsAllThatCanBe) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const auto tree = [&] {
      std::string text;
      for (const char* path : {"a", "b", "c/a", "c/b", "d/a", "d/e/a"}) {
        const auto content = random() % 5;
        if (content > 0) text += std::string(path) + "=" + std::to_string(content) + " ";
      }
      return text;
    };
    const std::vector<Difference> plain = DifferencesOf(tree(), tree());
    const std::vector<Difference> paired = FindRenames(plain);
    std::vector<Difference> apart;
    std::multiset<Digest> removed, added;
    for (const Difference& one : paired) {
      if (one.kind == Difference::Kind::kRenamed) {
        EXPECT_EQ(one.before.digest, one.after.digest);
        apart.push_back({Difference::Kind::kRemoved, one.before, {}});
        apart.push_back({Difference::Kind::kAdded, {}, one.after});
        continue;
      }
      if (one.kind == Difference::Kind::kRemoved) removed.insert(one.before.digest);
      if (one.kind == Difference::Kind::kAdded) added.insert(one.after.digest);
      apart.push_back(one);
    }
    std::sort(apart.begin(), apart.end(), [](const Difference& a, const Difference& b) {
      return std::tuple(a.path(), a.kind) < std::tuple(b.path(), b.kind);
    });
    EXPECT_EQ(apart, plain) << "seed " << seed;
    for (const Digest& digest : removed) EXPECT_FALSE(added.contains(digest)) << "seed " << seed;
    EXPECT_TRUE(std::is_sorted(paired.begin(), paired.end(),
                               [](const auto& a, const auto& b) { return a.path() < b.path(); }));
  }
}

TEST(DiffTreesTest, TotalsAreOfWhatDiffers) {
  const DifferenceTotals totals =
      TotalsOf(FindRenames(DifferencesOf("a=1 b=22 c=333 d=4444", "a=1 b=xyz e=333 f=55555 g=6")));
  EXPECT_EQ(totals.added, 2u);
  EXPECT_EQ(totals.removed, 1u);
  EXPECT_EQ(totals.changed, 1u);
  EXPECT_EQ(totals.renamed, 1u);
  EXPECT_EQ(totals.bytes_before, 2u + 3 + 4);
  EXPECT_EQ(totals.bytes_after, 3u + 3 + 5 + 1);
}

TEST(DiffTreesTest, EqualFoldersAreNotRead) {
  Folders folders;
  const Digest before = folders.Build(Files("same/a/b/c=1 same/d=1 other/x=1"));
  const Digest after = folders.Build(Files("same/a/b/c=1 same/d=1 other/x=2"));
  ASSERT_TRUE(DiffTrees(before, after, folders.Read()).ok());
  EXPECT_EQ(folders.reads, 4);  // two roots and two of `other`
  folders.reads = 0;
  ASSERT_TRUE(DiffTrees(before, before, folders.Read()).ok());
  EXPECT_EQ(folders.reads, 0);
}

TEST(DiffTreesTest, AgreesWithTheDifferenceOfLists) {
  std::mt19937 random(3);
  const auto draw = [&] {
    std::map<std::string, TreeFile> files;
    for (auto i = random() % 12; i > 0; --i) {
      std::string path = "f" + std::to_string(random() % 3);
      for (auto depth = random() % 3; depth > 0; --depth)
        path = "d" + std::to_string(random() % 2) + "/" + path;
      files[path] = {path, Digest::Of(std::to_string(random() % 2)), random() % 5 == 0};
    }
    return files;
  };
  for (int round = 0; round < 200; ++round) {
    const auto before = draw(), after = draw();
    const auto values = [](const auto& files) {
      std::vector<TreeFile> list;
      for (const auto& [path, file] : files) list.push_back(file);
      return list;
    };
    Folders folders;
    const auto found =
        DiffTrees(folders.Build(values(before)), folders.Build(values(after)), folders.Read());
    ASSERT_TRUE(found.ok());
    auto patched = before;
    for (const Difference& difference : *found) {
      if (difference.kind != Difference::Kind::kAdded) {
        ASSERT_EQ(patched.at(difference.before.path), difference.before);
        patched.erase(difference.before.path);
      }
      if (difference.kind != Difference::Kind::kRemoved)
        patched[difference.after.path] = difference.after;
      ASSERT_NE(difference.before, difference.after);
    }
    ASSERT_EQ(patched, after) << "round " << round;
  }
}

}  // namespace
}  // namespace galley::tree
