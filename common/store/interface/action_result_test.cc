#include "common/store/interface/action_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/base/wire_format.h"
#include "common/tree/wire_fields.h"

namespace galley::store {
namespace {

namespace reapi = build::bazel::remote::execution::v2;
using testing::ElementsAre;
using testing::HasSubstr;

void Set(const Digest& digest, reapi::Digest* to) {
  to->set_hash(digest.hex());
  to->set_size_bytes(static_cast<int64_t>(digest.size_bytes()));
}

// A store of folders, by digest.
class Folders {
 public:
  Digest Put(const google::protobuf::Message& message) {
    const std::string bytes = message.SerializeAsString();
    const Digest digest = Digest::Of(bytes);
    blobs_[digest] = bytes;
    return digest;
  }
  ReadFolder Reader() {
    return [this](const Digest& digest) -> absl::StatusOr<Blob> {
      ++reads;
      const auto found = blobs_.find(digest);
      if (found == blobs_.end()) return absl::NotFoundError("absent");
      return MakeBlob(found->second);
    };
  }
  int reads = 0;

 private:
  std::map<Digest, std::string> blobs_;
};

reapi::Directory DirectoryOf(const std::map<std::string, Digest>& files,
                             const std::map<std::string, Digest>& directories = {}) {
  reapi::Directory directory;
  for (const auto& [name, digest] : files) {
    auto* node = directory.add_files();
    node->set_name(name);
    Set(digest, node->mutable_digest());
  }
  for (const auto& [name, digest] : directories) {
    auto* node = directory.add_directories();
    node->set_name(name);
    Set(digest, node->mutable_digest());
  }
  return directory;
}

reapi::OutputFile* AddFile(reapi::ActionResult& result, const std::string& path,
                           const Digest& digest) {
  auto* file = result.add_output_files();
  file->set_path(path);
  Set(digest, file->mutable_digest());
  return file;
}

const Digest kA = Digest::Of("a"), kB = Digest::Of("b"), kC = Digest::Of("c"), kD = Digest::Of("d");

absl::Status Validated(const reapi::ActionResult& result) {
  return ValidateActionResult(result.SerializeAsString());
}

std::string WhyNot(const reapi::ActionResult& result) {
  const absl::Status status = Validated(result);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

std::vector<Digest> NamedOf(const reapi::ActionResult& result, Folders& folders) {
  const auto named = NamedBlobs(result.SerializeAsString(), folders.Reader());
  EXPECT_TRUE(named.ok()) << named.status();
  return named.value_or(std::vector<Digest>());
}

TEST(ActionResultTest, NamesFilesAndStreamsEachOnce) {
  reapi::ActionResult result;
  AddFile(result, "out/a", kA);
  AddFile(result, "out/b", kB)->set_contents("b");
  AddFile(result, "out/again", kA);
  Set(kC, result.mutable_stdout_digest());
  Set(kD, result.mutable_stderr_digest());
  result.set_exit_code(-1);
  result.mutable_execution_metadata()->set_worker("w");
  Folders folders;
  EXPECT_TRUE(Validated(result).ok()) << Validated(result);
  EXPECT_THAT(NamedOf(result, folders), ElementsAre(kA, kB, kC, kD));
  EXPECT_EQ(folders.reads, 0);
}

TEST(ActionResultTest, ATreeNamesItsFilesAndNotItsFolders) {
  reapi::Tree tree;
  const reapi::Directory below = DirectoryOf({{"b", kB}});
  *tree.mutable_root() =
      DirectoryOf({{"a", kA}}, {{"below", Digest::Of(below.SerializeAsString())}});
  *tree.add_children() = below;
  Folders folders;
  const Digest digest = folders.Put(tree);
  reapi::ActionResult result;
  for (const char* path : {"", "copy"}) {
    auto* output = result.add_output_directories();
    output->set_path(path);
    Set(digest, output->mutable_tree_digest());
  }
  EXPECT_TRUE(Validated(result).ok()) << Validated(result);
  EXPECT_THAT(NamedOf(result, folders), ElementsAre(digest, kA, kB));
  EXPECT_EQ(folders.reads, 1);
}

TEST(ActionResultTest, ARootDirectoryNamesAllBelowIt) {
  Folders folders;
  const Digest leaf = folders.Put(DirectoryOf({{"c", kC}}));
  const Digest middle = folders.Put(DirectoryOf({{"b", kB}}, {{"x", leaf}}));
  const Digest root = folders.Put(DirectoryOf({{"a", kA}}, {{"x", leaf}, {"y", middle}}));
  reapi::ActionResult result;
  auto* output = result.add_output_directories();
  output->set_path("dir");
  Set(root, output->mutable_root_directory_digest());
  EXPECT_TRUE(Validated(result).ok());
  EXPECT_THAT(NamedOf(result, folders), ElementsAre(root, kA, leaf, middle, kC, kB));
  EXPECT_EQ(folders.reads, 3);
}

TEST(ActionResultTest, AFolderThatIsAbsentIsNamedItself) {
  reapi::ActionResult result;
  auto* output = result.add_output_directories();
  Set(kA, output->mutable_tree_digest());
  Set(kB, output->mutable_root_directory_digest());
  Folders folders;
  EXPECT_THAT(NamedOf(result, folders), ElementsAre(kA, kB));
}

TEST(ActionResultTest, AFolderThatIsNoneIsRefused) {
  reapi::ActionResult result;
  Set(kA, result.add_output_directories()->mutable_root_directory_digest());
  const auto read = [](const Digest&) -> absl::StatusOr<Blob> { return MakeBlob("\x0a\xff"); };
  const auto named = NamedBlobs(result.SerializeAsString(), read);
  EXPECT_EQ(named.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(named.status().message()), HasSubstr("folder " + kA.ToString() + ": "));
  const auto broken = NamedBlobs(result.SerializeAsString(), [](const Digest&) {
    return absl::StatusOr<Blob>(absl::DataLossError("rotten"));
  });
  EXPECT_EQ(broken.status().code(), absl::StatusCode::kDataLoss);
}

// A chain so deep that recursion would not survive it, and that looks like a wide tree.
TEST(ActionResultTest, FoldersMayLieDeep) {
  Folders folders;
  Digest root = folders.Put(DirectoryOf({{"a", kA}}));
  for (int i = 0; i < 20'000; ++i) root = folders.Put(DirectoryOf({}, {{"d", root}}));
  reapi::ActionResult result;
  Set(root, result.add_output_directories()->mutable_root_directory_digest());
  EXPECT_EQ(NamedOf(result, folders).size(), 20'002u);
}

TEST(ActionResultTest, AFolderThatIsTooLargeIsNotRead) {
  reapi::ActionResult result;
  Set(*Digest::FromHash(kA.hash(), kFolderBytesMax + 1),
      result.add_output_directories()->mutable_tree_digest());
  Folders folders;
  EXPECT_EQ(NamedBlobs(result.SerializeAsString(), folders.Reader()).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(folders.reads, 0);
}

TEST(ActionResultTest, RefusesPathsThatAreNotPlainOrTwiceThere) {
  for (const char* path : {"", "/a", "a/", "a//b", "../a", "a/..", "./a", "a\\b", "a\nb", "\xff"}) {
    reapi::ActionResult result;
    std::string bytes;
    WireWriter file;
    file.Bytes(1, path);
    file.Element(2, tree::EncodeDigest(kA));
    WireWriter writer;
    writer.Element(2, file.bytes());
    const absl::Status status = ValidateActionResult(writer.bytes());
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_THAT(std::string(status.message()), HasSubstr("expected a relative path")) << path;
  }
  reapi::ActionResult twice;
  AddFile(twice, "x", kA);
  auto* folder = twice.add_output_directories();
  folder->set_path("x");
  Set(kB, folder->mutable_tree_digest());
  EXPECT_EQ(WhyNot(twice), "output \"x\" is there twice");
}

TEST(ActionResultTest, RefusesOutputsWithoutADigest) {
  reapi::ActionResult file, folder;
  file.add_output_files()->set_path("x");
  EXPECT_EQ(WhyNot(file), "output \"x\" has no digest");
  folder.add_output_directories()->set_path("y");
  EXPECT_EQ(WhyNot(folder), "output folder \"y\" has no digest");
}

TEST(ActionResultTest, RefusesDigestsThatAreNone) {
  const auto with = [](const std::string& hash, int64_t size) {
    reapi::ActionResult result;
    result.mutable_stdout_digest()->set_hash(hash);
    result.mutable_stdout_digest()->set_size_bytes(size);
    return result;
  };
  const std::string hex = kA.hex();
  EXPECT_TRUE(Validated(with(hex, 1)).ok());
  EXPECT_TRUE(Validated(with(Digest().hex(), 0)).ok());
  WhyNot(with(hex.substr(1), 1));
  WhyNot(with(hex + "0", 1));
  WhyNot(with("G" + hex.substr(1), 1));
  WhyNot(with("C" + hex.substr(1), 1));
  EXPECT_EQ(WhyNot(with(hex, -1)), "stdout_digest: size_bytes is negative");
  EXPECT_THAT(WhyNot(with(hex, 0)), HasSubstr("is not the hash of no bytes"));
}

TEST(ActionResultTest, RefusesBytesInTheMessageThatAreOthers) {
  reapi::ActionResult file;
  AddFile(file, "x", kA)->set_contents("b");
  EXPECT_EQ(WhyNot(file), "x: the bytes in the message are not what the digest says");
  for (const bool is_error : {false, true}) {
    reapi::ActionResult stream;
    Set(kA, is_error ? stream.mutable_stderr_digest() : stream.mutable_stdout_digest());
    is_error ? stream.set_stderr_raw("b") : stream.set_stdout_raw("b");
    EXPECT_EQ(WhyNot(stream), std::string(is_error ? "stderr" : "stdout") +
                                  ": the bytes in the message are not what the digest says");
    is_error ? stream.set_stderr_raw("a") : stream.set_stdout_raw("a");
    EXPECT_TRUE(Validated(stream).ok());
  }
  reapi::ActionResult raw;
  raw.set_stdout_raw("no digest beside it");
  EXPECT_TRUE(Validated(raw).ok());
}

TEST(ActionResultTest, LinksMayBeInTheOldFieldAndInTheNew) {
  reapi::ActionResult result;
  const auto fill = [](reapi::OutputSymlink* link, const char* path, const char* target) {
    link->set_path(path);
    link->set_target(target);
  };
  fill(result.add_output_file_symlinks(), "l", "/any/where");
  fill(result.add_output_symlinks(), "l", "/any/where");
  EXPECT_TRUE(Validated(result).ok()) << Validated(result);
  fill(result.add_output_directory_symlinks(), "l", "x");
  EXPECT_EQ(WhyNot(result), "output \"l\" is there twice");
  result.clear_output_directory_symlinks();
  fill(result.add_output_symlinks(), "../l", "x");
  EXPECT_THAT(WhyNot(result), HasSubstr("expected a relative path"));
  result.mutable_output_symlinks(1)->set_path("m");
  result.mutable_output_symlinks(1)->clear_target();
  EXPECT_EQ(WhyNot(result), "output link \"m\" has no target");
}

// protobuf merges fields that occur twice, and treats a field of another type as unknown: we would
// check another result than other programs see.
TEST(ActionResultTest, RefusesWhatOthersReadInAnotherWay) {
  const std::string digest = tree::EncodeDigest(kA);
  WireWriter twice;
  twice.Element(6, digest);
  twice.Element(6, digest);
  EXPECT_EQ(ValidateActionResult(twice.bytes()).message(), "stdout_digest is there twice");
  WireWriter number;
  number.Varint(2, 1);
  EXPECT_EQ(ValidateActionResult(number.bytes()).message(), "output_files: expected bytes");
  EXPECT_EQ(NamedBlobs(number.bytes(), {}).status().message(), "output_files: expected bytes");
  EXPECT_EQ(ValidateActionResult("\x12\xff").code(), absl::StatusCode::kInvalidArgument);
  WireWriter unknown;
  unknown.Varint(99, 7);
  EXPECT_TRUE(ValidateActionResult(unknown.bytes()).ok());
}

// Compared with protobuf's own reading of the same bytes.
TEST(ActionResultTest, NamesWhatProtobufSees) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto some = [&] { return Digest::Of(std::to_string(random() % 20)); };
    Folders folders;
    reapi::ActionResult result;
    std::set<Digest> expected;
    for (auto i = random() % 4; i > 0; --i) {
      const Digest digest = some();
      AddFile(result, "f" + std::to_string(i), digest);
      expected.insert(digest);
    }
    for (auto i = random() % 3; i > 0; --i) {
      reapi::Tree tree;
      for (auto files = random() % 4; files > 0; --files) {
        const Digest digest = some();
        *(random() % 2 == 0 ? tree.mutable_root() : tree.add_children()) =
            DirectoryOf({{"n", digest}});
      }
      for (const auto& child : tree.children())
        expected.insert(
            *Digest::FromHex(child.files(0).digest().hash(), child.files(0).digest().size_bytes()));
      if (tree.root().files_size() > 0)
        expected.insert(*Digest::FromHex(tree.root().files(0).digest().hash(),
                                         tree.root().files(0).digest().size_bytes()));
      const Digest digest = folders.Put(tree);
      expected.insert(digest);
      auto* output = result.add_output_directories();
      output->set_path("d" + std::to_string(i));
      Set(digest, output->mutable_tree_digest());
    }
    EXPECT_TRUE(Validated(result).ok()) << Validated(result);
    const std::vector<Digest> named = NamedOf(result, folders);
    EXPECT_EQ(std::set<Digest>(named.begin(), named.end()), expected) << "seed " << seed;
    EXPECT_EQ(named.size(), expected.size());
  }
}

}  // namespace
}  // namespace galley::store
