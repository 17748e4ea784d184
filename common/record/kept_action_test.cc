#include "common/record/kept_action.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/record/testing/sample.h"

namespace galley::record {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class KeptActionTest : public testing::Test {
 protected:
  KeptActionTest() : action_(*BuildAction(SampleInputs())) {
    for (const std::string_view bytes : BlobsToKeep(action_))
      blobs_[Digest::Of(bytes)] = std::string(bytes);
  }
  absl::StatusOr<KeptAction> Read(const Digest& key) {
    return ReadKeptAction(
        key, [this](std::string_view name, const Digest& digest) -> absl::StatusOr<Blob> {
          const auto found = blobs_.find(digest);
          if (found == blobs_.end()) return absl::NotFoundError(std::string(name));
          return MakeBlob(found->second);
        });
  }

  const Action action_;
  std::map<Digest, std::string> blobs_;
};

TEST_F(KeptActionTest, FourBlobsLeadFromTheKeyToEverything) {
  EXPECT_EQ(blobs_.size(), 4u);
  EXPECT_TRUE(blobs_.contains(action_.key));
  const auto kept = Read(action_.key);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->inputs.recipe, SampleRecipe());
  EXPECT_EQ(kept->inputs.source, SampleInputs().source);
  EXPECT_EQ(kept->inputs.observed, SampleObserved());
  EXPECT_EQ(kept->inputs.trust_domain, "main");
  EXPECT_EQ(kept->action.action, action_.action);
  EXPECT_EQ(kept->action.command, action_.command);
  EXPECT_EQ(kept->action.directories, action_.directories);
}

TEST_F(KeptActionTest, InputsAreNamedWithTheBlobsThatLeadToThem) {
  const std::vector<Digest> blobs = BlobsOf(*Read(action_.key));
  for (const auto& [digest, bytes] : blobs_) EXPECT_THAT(blobs, Contains(digest));
  for (const char* input : {"void main() {}", "common", "light", "ktx2", "pack"})
    EXPECT_THAT(blobs, Contains(Digest::Of(input))) << input;
  EXPECT_THAT(blobs, Not(Contains(Digest::Of("python")))) << "the machine has it";
}

TEST_F(KeptActionTest, AnAbsentBlobIsNamed) {
  blobs_.erase(RecipeDigest(SampleRecipe()));
  const auto kept = Read(action_.key);
  EXPECT_EQ(kept.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(MessageOf(kept.status()), "the recipe");
  EXPECT_EQ(MessageOf(Read(Digest::Of("another key")).status()), "the Action");
}

TEST_F(KeptActionTest, AnActionThatItsBlobsDoNotComeToIsRefused) {
  ActionInputs other = SampleInputs();
  other.observed.pop_back();
  // The input root names the observations of another Action.
  blobs_[Digest::Of(EncodeObserved(SampleObserved()))] = EncodeObserved(other.observed);
  const auto kept = Read(action_.key);
  EXPECT_EQ(kept.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(kept.status()), HasSubstr(action_.key.ToString()));
}

TEST_F(KeptActionTest, AnotherProgramsBlobIsNoAction) {
  const Digest text = Digest::Of("text");
  blobs_[text] = "text";
  EXPECT_EQ(Read(text).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(DecodeActionTest, FieldsAreThoseThatAreEncoded) {
  const Action action = *BuildAction(SampleInputs());
  const auto message = DecodeAction(action.action);
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_EQ(message->command, Digest::Of(action.command));
  EXPECT_EQ(message->input_root, Digest::Of(action.directories.back()));
  EXPECT_EQ(message->trust_domain, "main");
  EXPECT_EQ(DecodeAction("").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DecodeAction(action.action + "\x50\x01").status().code(),
            absl::StatusCode::kInvalidArgument)
      << "an Action of another program has more fields";
}

}  // namespace
}  // namespace galley::record
