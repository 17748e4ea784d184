#include "common/record/portable_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/base/status_macros.h"
#include "common/record/testing/sample.h"
#include "common/tree/testing/golden.h"

namespace galley::record {
namespace {

namespace reapi = build::bazel::remote::execution::v2;
using testing::HasSubstr;

Result WithOutputs(size_t count) {
  Result result = SampleResult();
  result.outputs = {{".ktx2", Digest::Of("main"), false}};
  for (size_t i = 1; i < count; ++i) {
    // Folders at two depths, and two folders with the same content (one Directory).
    const std::string folder = i % 3 == 0 ? "a/same" : i % 3 == 1 ? "b/same" : "c";
    const size_t number = i / 3;
    result.outputs.push_back({".d/" + folder + "/" + std::to_string(number) + ".bin",
                              Digest::Of("output " + std::to_string(number)), number % 2 == 0});
  }
  std::sort(result.outputs.begin(), result.outputs.end());
  return result;
}

// Blobs: the blobs of a remote store.
class Blobs {
 public:
  explicit Blobs(const PortableResult& portable)
      : blobs_(portable.blobs.begin(), portable.blobs.end()) {}
  tree::ReadBlob Reader() {
    return [this](const Digest& digest) -> absl::StatusOr<Blob> {
      const auto at = blobs_.find(digest);
      if (at == blobs_.end()) return absl::NotFoundError("not there: " + digest.ToString());
      return MakeBlob(at->second);
    };
  }
  Digest Add(std::string bytes) {
    const Digest digest = Digest::Of(bytes);
    blobs_[digest] = std::move(bytes);
    return digest;
  }

 private:
  std::map<Digest, std::string> blobs_;
};

const tree::ReadBlob kNothing = [](const Digest& digest) -> absl::StatusOr<Blob> {
  return absl::NotFoundError("not there: " + digest.ToString());
};

TEST(PortableResultTest, FewOutputsAreFilesAsInOurOwnStores) {
  for (const Result& result : {SampleResult(), WithOutputs(kOutputFilesMax)}) {
    const PortableResult portable = EncodePortable(result);
    EXPECT_EQ(portable.bytes, EncodeResult(result));
    ASSERT_EQ(portable.blobs.size(), 1u);
    EXPECT_EQ(portable.blobs[0].second, EncodeDetails(result.details));
    EXPECT_EQ(EncodeResult(*DecodePortable(portable.bytes, kNothing)), EncodeResult(result));
  }
}

TEST(PortableResultTest, ManyOutputsAreATreeAndComeBackTheSame) {
  for (const size_t count : {kOutputFilesMax + 1, size_t{5000}}) {
    const Result result = WithOutputs(count);
    const PortableResult portable = EncodePortable(result);
    EXPECT_LT(portable.bytes.size(), 2000u);
    const auto decoded = DecodePortable(portable.bytes, Blobs(portable).Reader());
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(EncodeResult(*decoded), EncodeResult(result));
  }
}

TEST(PortableResultTest, EncodingIsTheGolden) {
  const PortableResult portable = EncodePortable(WithOutputs(kOutputFilesMax + 2));
  std::string text = HexLines(portable.bytes);
  for (const auto& [digest, bytes] : portable.blobs)
    text += digest.ToString() + "\n" + HexLines(bytes);
  ExpectGolden("common/record/testdata/portable_result.txt", text);
}

TEST(PortableResultTest, AForeignServerFindsBothDigestsAndASortedTree) {
  const PortableResult portable = EncodePortable(WithOutputs(100));
  reapi::ActionResult message;
  ASSERT_TRUE(message.ParseFromString(portable.bytes));
  EXPECT_EQ(message.output_files_size(), 2);  // the details, and the output outside of the folder
  ASSERT_EQ(message.output_directories_size(), 1);
  const reapi::OutputDirectory& directory = message.output_directories(0);
  EXPECT_EQ(directory.path(), "out/output.d");
  EXPECT_TRUE(directory.is_topologically_sorted());

  std::map<std::string, std::string> blobs;
  for (const auto& [digest, bytes] : portable.blobs) blobs[digest.hex()] = bytes;
  ASSERT_TRUE(blobs.contains(directory.root_directory_digest().hash()));
  reapi::Tree tree;
  ASSERT_TRUE(tree.ParseFromString(blobs.at(directory.tree_digest().hash())));
  EXPECT_EQ(tree.root().SerializeAsString(), blobs.at(directory.root_directory_digest().hash()));
  // Parents come first, each once: an earlier Directory names a Directory.
  std::set<std::string> named, seen;
  const auto take = [&](const reapi::Directory& one) {
    for (const auto& child : one.directories()) named.insert(child.digest().hash());
  };
  take(tree.root());
  for (const reapi::Directory& child : tree.children()) {
    const std::string hash = Digest::Of(child.SerializeAsString()).hex();
    EXPECT_TRUE(named.contains(hash));
    EXPECT_TRUE(seen.insert(hash).second);
    EXPECT_TRUE(blobs.contains(hash)) << "the Directories are blobs of their own, too";
    take(child);
  }
  EXPECT_EQ(seen.size(), 4u) << "a, b and c, and what a and b share";
}

TEST(PortableResultTest, DetailsThatAServerTookOutAreReadAsABlob) {
  const PortableResult portable = EncodePortable(WithOutputs(100));
  reapi::ActionResult message;
  ASSERT_TRUE(message.ParseFromString(portable.bytes));
  for (auto& file : *message.mutable_output_files()) file.clear_contents();
  const auto decoded = DecodePortable(message.SerializeAsString(), Blobs(portable).Reader());
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(EncodeResult(*decoded), EncodeResult(WithOutputs(100)));
  EXPECT_TRUE(absl::IsNotFound(DecodePortable(message.SerializeAsString(), kNothing).status()));
}

TEST(PortableResultTest, AMissingTreeIsNotFound) {
  const PortableResult portable = EncodePortable(WithOutputs(100));
  EXPECT_TRUE(absl::IsNotFound(DecodePortable(portable.bytes, kNothing).status()));
}

// An ActionResult with this tree.
std::string WithTree(const std::string& path, const Digest& tree_digest) {
  reapi::ActionResult message;
  EXPECT_TRUE(message.ParseFromString(EncodeResult(WithOutputs(1))));
  reapi::OutputDirectory& directory = *message.add_output_directories();
  directory.set_path(path);
  directory.mutable_tree_digest()->set_hash(tree_digest.hex());
  directory.mutable_tree_digest()->set_size_bytes(static_cast<int64_t>(tree_digest.size_bytes()));
  return message.SerializeAsString();
}

TEST(PortableResultTest, WhatIsNoTreeOfOutputsIsRefused) {
  Blobs blobs{PortableResult()};
  const auto error = [&](const std::string& path, std::string tree) {
    const absl::Status status =
        DecodePortable(WithTree(path, blobs.Add(std::move(tree))), blobs.Reader()).status();
    return std::string(absl::StatusCodeToString(status.code())) + ": " + MessageOf(status);
  };
  const std::string empty = std::string("\x0a\x00", 2);
  EXPECT_THAT(error("out/other", empty), HasSubstr("expected out/output.d"));
  EXPECT_THAT(error("out/output.d", ""), HasSubstr("without a root"));
  EXPECT_THAT(error("out/output.d", "\x0a\x05x"), HasSubstr("INVALID_ARGUMENT"));
  reapi::Tree tree;
  auto* link = tree.mutable_root()->add_symlinks();
  link->set_name("link");
  link->set_target("/etc/passwd");
  EXPECT_THAT(error("out/output.d", tree.SerializeAsString()), HasSubstr("INVALID_ARGUMENT"));
  tree.mutable_root()->clear_symlinks();
  auto* child = tree.mutable_root()->add_directories();
  child->set_name("child");
  child->mutable_digest()->set_hash(Digest::Of("child").hex());
  child->mutable_digest()->set_size_bytes(5);
  EXPECT_THAT(error("out/output.d", tree.SerializeAsString()), HasSubstr("lacks its Directory"));
}

// 40 folders, each of which holds the next folder twice: 2^40 paths.
TEST(PortableResultTest, ATreeThatNamesVeryMuchIsCut) {
  reapi::Tree tree;
  reapi::Directory below;
  auto* file = below.add_files();
  file->set_name("x");
  file->mutable_digest()->set_hash(Digest::Of("x").hex());
  file->mutable_digest()->set_size_bytes(1);
  for (int i = 0; i < 40; ++i) {
    *tree.add_children() = below;
    const Digest digest = Digest::Of(below.SerializeAsString());
    below.Clear();
    for (const char* name : {"a", "b"}) {
      auto* node = below.add_directories();
      node->set_name(name);
      node->mutable_digest()->set_hash(digest.hex());
      node->mutable_digest()->set_size_bytes(static_cast<int64_t>(digest.size_bytes()));
    }
  }
  *tree.mutable_root() = below;
  Blobs blobs{PortableResult()};
  const Digest digest = blobs.Add(tree.SerializeAsString());
  EXPECT_TRUE(absl::IsResourceExhausted(
      DecodePortable(WithTree("out/output.d", digest), blobs.Reader()).status()));
}

}  // namespace
}  // namespace galley::record
