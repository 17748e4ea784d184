#include "common/store/reapi/server/reapi_results.h"

#include <string>
#include <utility>
#include <vector>

#include "common/base/wire_format.h"
#include "common/record/observation.h"
#include "common/record/testing/sample.h"
#include "common/store/reapi/server/error_details.h"
#include "common/store/reapi/server/testing/reapi_messages.h"
#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Digest kAction = Digest::Of("action");

class ReapiResultsTest : public testing::Test {
 protected:
  absl::Status Update(const Digest& action, const reapi::ActionResult& result,
                      std::string_view instance = "") {
    reapi::UpdateActionResultRequest request;
    request.set_instance_name(std::string(instance));
    SetWire(action, request.mutable_action_digest());
    *request.mutable_action_result() = result;
    auto answer = results_.UpdateActionResult(request.SerializeAsString());
    if (!answer.ok()) return answer.status();
    EXPECT_EQ(answer->reply, result.SerializeAsString());
    EXPECT_TRUE(answer->commit.has_value());
    return store_.Commit(*answer->commit);
  }
  ReapiCore::Reply Get(const Digest& action, std::string_view instance = "") {
    reapi::GetActionResultRequest request;
    request.set_instance_name(std::string(instance));
    SetWire(action, request.mutable_action_digest());
    return results_.GetActionResult(request.SerializeAsString());
  }
  reapi::ActionResult WithOutput(std::string_view bytes) {
    reapi::ActionResult result;
    auto& file = *result.add_output_files();
    file.set_path("out/a");
    SetWire(PutBytes(store_, bytes), file.mutable_digest());
    return result;
  }

  MemoryStore store_;
  ReapiResults results_{store_, ReapiOptions{}, Caller{.peer = "a test"}};
};

TEST_F(ReapiResultsTest, AResultIsAnsweredAsItCame) {
  reapi::ActionResult result = WithOutput("bytes");
  result.set_exit_code(3);
  // A field of a later version.
  result.GetReflection()->MutableUnknownFields(&result)->AddVarint(77, 7);
  EXPECT_TRUE(absl::IsNotFound(Get(kAction).status()));
  ASSERT_TRUE(Update(kAction, result).ok());
  EXPECT_EQ(Get(kAction)->reply, result.SerializeAsString());
  EXPECT_FALSE(Get(kAction)->commit.has_value());
}

TEST_F(ReapiResultsTest, TheLastOneStandsAndEachInstanceHasItsOwn) {
  ASSERT_TRUE(Update(kAction, WithOutput("one")).ok());
  ASSERT_TRUE(Update(kAction, WithOutput("two")).ok());
  ASSERT_TRUE(Update(kAction, WithOutput("three"), "team/a").ok());
  EXPECT_EQ(Get(kAction)->reply, WithOutput("two").SerializeAsString());
  EXPECT_EQ(Get(kAction, "team/a")->reply, WithOutput("three").SerializeAsString());
  EXPECT_TRUE(absl::IsNotFound(Get(kAction, "team").status()));
}

TEST_F(ReapiResultsTest, AResultOfWhichSomethingIsMissingIsNone) {
  ASSERT_TRUE(Update(kAction, WithOutput("bytes")).ok());
  store_.Drop(Digest::Of("bytes"));
  EXPECT_TRUE(absl::IsNotFound(Get(kAction).status()));
}

TEST_F(ReapiResultsTest, AnUpdateNamesWhatIsMissing) {
  reapi::Tree tree;
  auto& in_tree = *tree.mutable_root()->add_files();
  in_tree.set_name("f");
  SetWire(Digest::Of("in the tree"), in_tree.mutable_digest());
  reapi::ActionResult result = WithOutput("here");
  auto& directory = *result.add_output_directories();
  directory.set_path("dir");
  SetWire(PutBytes(store_, tree.SerializeAsString()), directory.mutable_tree_digest());
  SetWire(Digest::Of("a log"), result.mutable_stdout_digest());

  const absl::Status refused = Update(kAction, result);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  const auto failure = DetailOf<google::rpc::PreconditionFailure>(refused, "PreconditionFailure");
  std::vector<std::string> subjects;
  for (const auto& violation : failure.violations()) {
    EXPECT_EQ(violation.type(), "MISSING");
    subjects.push_back(violation.subject());
  }
  EXPECT_THAT(subjects, ElementsAre("blobs/" + Digest::Of("in the tree").ToString(),
                                    "blobs/" + Digest::Of("a log").ToString()));
  PutBytes(store_, "in the tree");
  PutBytes(store_, "a log");
  EXPECT_TRUE(Update(kAction, result).ok());
}

TEST_F(ReapiResultsTest, MoreThanFitsIntoAHeaderIsNotNamed) {
  reapi::ActionResult result;
  for (int i = 0; i < 1000; ++i) {
    auto& file = *result.add_output_files();
    file.set_path("out/" + std::to_string(i));
    SetWire(Digest::Of(std::to_string(i)), file.mutable_digest());
  }
  const absl::Status refused = Update(kAction, result);
  EXPECT_EQ(
      DetailOf<google::rpc::PreconditionFailure>(refused, "PreconditionFailure").violations_size(),
      static_cast<int>(kViolationsMax));
  EXPECT_THAT(refused.message(), HasSubstr("1000 blobs are missing"));
  EXPECT_LT(EncodeRpcStatus(ForPeers(refused)).size(), 6000u);
}

TEST_F(ReapiResultsTest, WhatIsInlineNeedNotBePut) {
  reapi::ActionResult result;
  auto& file = *result.add_output_files();
  file.set_path("a");
  SetWire(Digest::Of("inline"), file.mutable_digest());
  file.set_contents("inline");
  ASSERT_TRUE(Update(kAction, result).ok());
  EXPECT_EQ(GetBytes(store_, Digest::Of("inline")), "inline");
  EXPECT_EQ(Get(kAction)->reply, result.SerializeAsString());
  file.set_contents("other");
  EXPECT_TRUE(absl::IsInvalidArgument(Update(Digest::Of("b"), result)));
}

TEST_F(ReapiResultsTest, ResultsThatAreNoneAreRefused) {
  for (const char* path : {"", "/a", "../a", "a/../b", "a//b", "a/"}) {
    reapi::ActionResult result = WithOutput("bytes");
    result.mutable_output_files(0)->set_path(path);
    EXPECT_TRUE(absl::IsInvalidArgument(Update(kAction, result))) << path;
  }
  reapi::ActionResult result = WithOutput("bytes");
  result.mutable_output_files(0)->clear_digest();
  EXPECT_TRUE(absl::IsInvalidArgument(Update(kAction, result)));
}

TEST_F(ReapiResultsTest, WhatIsAskedForIsInlined) {
  reapi::ActionResult result = WithOutput("bytes");
  SetWire(PutBytes(store_, "said"), result.mutable_stdout_digest());
  SetWire(PutBytes(store_, "cried"), result.mutable_stderr_digest());
  ASSERT_TRUE(Update(kAction, result).ok());
  reapi::GetActionResultRequest request;
  SetWire(kAction, request.mutable_action_digest());
  request.set_inline_stdout(true);
  auto answer =
      ParsedReply<reapi::ActionResult>(results_.GetActionResult(request.SerializeAsString()));
  EXPECT_EQ(answer.stdout_raw(), "said");
  EXPECT_EQ(answer.stderr_raw(), "");
  EXPECT_EQ(answer.output_files(0).contents(), "");
  request.set_inline_stderr(true);
  request.add_inline_output_files("out/a");
  answer = ParsedReply<reapi::ActionResult>(results_.GetActionResult(request.SerializeAsString()));
  EXPECT_EQ(answer.stderr_raw(), "cried");
  EXPECT_EQ(answer.output_files(0).contents(), "bytes");

  // Above the limit the output stays a digest.
  ReapiResults narrow(
      store_, ReapiOptions{.inline_bytes_max = result.SerializeAsString().size() + 6}, Caller{});
  answer = ParsedReply<reapi::ActionResult>(narrow.GetActionResult(request.SerializeAsString()));
  EXPECT_EQ(answer.stdout_raw(), "said");
  EXPECT_EQ(answer.stderr_raw(), "");
  EXPECT_EQ(answer.output_files(0).contents(), "");
}

TEST_F(ReapiResultsTest, AnAnswerIsNeverEmptyAndNeverTooLarge) {
  ASSERT_TRUE(Update(kAction, reapi::ActionResult()).ok());
  EXPECT_NE(ParsedReply<reapi::ActionResult>(Get(kAction)).execution_metadata().worker(), "");
  ASSERT_TRUE(Update(kAction, WithOutput("bytes")).ok());
  ReapiResults narrow(store_, ReapiOptions{.reply_bytes_max = 50}, Caller{});
  reapi::GetActionResultRequest request;
  SetWire(kAction, request.mutable_action_digest());
  const absl::Status refused = narrow.GetActionResult(request.SerializeAsString()).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("as a directory"));
}

TEST_F(ReapiResultsTest, GalleysOwnResultsAreSeenInTheNativeInstance) {
  const PutResult cooked = SampleResult("cooked", PutBytes(store_, "out"));
  const PutResult verdict = SampleVerdict("wrong");
  ASSERT_TRUE(store_.Commit({.results = {cooked, verdict}}).ok());
  EXPECT_EQ(Get(cooked.action_key)->reply, cooked.result);
  EXPECT_TRUE(absl::IsNotFound(Get(cooked.action_key, "other").status()));
  EXPECT_TRUE(absl::IsNotFound(Get(verdict.action_key).status()));
  ReapiResults named(store_, ReapiOptions{.instance = "main"}, Caller{});
  reapi::GetActionResultRequest request;
  request.set_instance_name("main");
  SetWire(cooked.action_key, request.mutable_action_digest());
  EXPECT_TRUE(named.GetActionResult(request.SerializeAsString()).ok());
}

TEST_F(ReapiResultsTest, AResultOfGalleysIsOneOfTheStores) {
  const auto update = [&](const PutResult& put, std::string_view instance) {
    reapi::UpdateActionResultRequest request;
    request.set_instance_name(std::string(instance));
    SetWire(put.action_key, request.mutable_action_digest());
    *request.mutable_action_result() = Parsed<reapi::ActionResult>(put.result);
    PutBytes(store_, record::EncodeDetails({}));
    return results_.UpdateActionResult(request.SerializeAsString());
  };
  const PutResult cooked = SampleResult("cooked", PutBytes(store_, "out"));
  EXPECT_EQ(update(cooked, "")->reply, cooked.result);
  EXPECT_EQ(ResultOf(store_, cooked.action_key), cooked.result);
  EXPECT_EQ(update(cooked, "")->reply, cooked.result);
  EXPECT_EQ(Get(cooked.action_key)->reply, cooked.result);
  // Two outcomes dispute each other, and neither is used.
  const PutResult other = SampleResult("cooked", PutBytes(store_, "another"));
  for (const PutResult& given : {other, cooked}) {
    const absl::Status refused = update(given, "").status();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("neither is used"));
    EXPECT_THAT(std::string(refused.message()),
                HasSubstr("galley store forget " + cooked.action_key.ToString()));
  }
  EXPECT_TRUE(absl::IsNotFound(Get(cooked.action_key).status()));
  // The same if another store saw the two outcomes.
  const PutResult there = SampleResult("there", PutBytes(store_, "out"));
  EXPECT_EQ(update(there, "")->reply, there.result);
  PutResult dispute = SampleVerdict("there");
  dispute.result =
      record::EncodeResult({.is_verdict = true, .is_disputed = true, .error = "they differ"});
  EXPECT_EQ(update(dispute, "")->reply, dispute.result);
  EXPECT_EQ(update(dispute, "")->reply, dispute.result);
  EXPECT_TRUE(absl::IsNotFound(Get(there.action_key).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(update(there, "").status()));
  // A result of another instance is kept as it came, and so is a verdict.
  const auto foreign = update(SampleResult("foreign", PutBytes(store_, "out")), "other");
  EXPECT_EQ(foreign->commit->action_results.size(), 1u);
  EXPECT_EQ(update(SampleVerdict("wrong"), "")->commit->action_results.size(), 1u);
  EXPECT_EQ(ResultOf(store_, Digest::Of("wrong")), std::nullopt);
}

TEST_F(ReapiResultsTest, ObservationSetsTravelAsAResult) {
  const record::Observation one{.subject = "a.glsl"};
  const std::string first = record::EncodeSet({}), second = record::EncodeSet({one});
  WireWriter list;
  list.Element(1, second);  // newest first
  list.Element(1, first);
  reapi::ActionResult result;
  auto& file = *result.add_output_files();
  file.set_path("observation-sets");
  SetWire(Digest::Of(list.bytes()), file.mutable_digest());
  file.set_contents(list.bytes());
  const Digest weak_key = Digest::Of("weak");
  ASSERT_TRUE(Update(weak_key, result).ok());
  EXPECT_THAT(store_.ObservationSets(std::span(&weak_key, 1))->front(), ElementsAre(second, first));
  const auto answer = ParsedReply<reapi::ActionResult>(Get(weak_key));
  EXPECT_EQ(answer.output_files(0).path(), "observation-sets");
  EXPECT_EQ(answer.output_files(0).contents(), list.bytes());
  EXPECT_EQ(FromWire(answer.output_files(0).digest()), Digest::Of(list.bytes()));
  EXPECT_EQ(GetBytes(store_, Digest::Of(list.bytes())), list.bytes());

  // A set that no director could read is refused.
  WireWriter junk;
  junk.Element(1, "junk");
  SetWire(Digest::Of(junk.bytes()), file.mutable_digest());
  file.set_contents(junk.bytes());
  EXPECT_TRUE(absl::IsInvalidArgument(Update(weak_key, result)));
  // In another instance a set is a result like any other.
  EXPECT_TRUE(Update(weak_key, result, "other").ok());
  EXPECT_EQ(store_.ObservationSets(std::span(&weak_key, 1))->front().size(), 2u);
}

// The key's own bytes name the trust domain, not the caller.
TEST_F(ReapiResultsTest, WhoWritesOneTrustDomainWritesNoOther) {
  ReapiResults branch(store_, ReapiOptions{}, Caller{.name = "ci", .trust = {"branch-x"}});
  const auto update = [&](const Digest& action, const reapi::ActionResult& result) {
    reapi::UpdateActionResultRequest request;
    SetWire(action, request.mutable_action_digest());
    *request.mutable_action_result() = result;
    return branch.UpdateActionResult(request.SerializeAsString()).status();
  };
  const auto action_of = [](std::string_view domain) {
    reapi::Action action;
    action.set_salt(std::string(domain));
    return action.SerializeAsString();
  };
  const reapi::ActionResult result = WithOutput("bytes");
  const absl::Status absent = update(Digest::Of(action_of("branch-x")), result);
  EXPECT_EQ(DetailOf<google::rpc::PreconditionFailure>(absent, "PreconditionFailure")
                .violations(0)
                .subject(),
            "blobs/" + Digest::Of(action_of("branch-x")).ToString());
  EXPECT_TRUE(update(PutBytes(store_, action_of("branch-x")), result).ok());
  for (const char* other : {"main", "branch-", ""})
    EXPECT_TRUE(absl::IsPermissionDenied(update(PutBytes(store_, action_of(other)), result)))
        << other;
  EXPECT_TRUE(absl::IsInvalidArgument(update(PutBytes(store_, "\xff"), result)));

  // A weak key has its domain in field 6.
  WireWriter list, mine, others;
  list.Element(1, record::EncodeSet({}));
  mine.Bytes(6, "branch-x");
  others.Bytes(6, "main");
  reapi::ActionResult sets;
  auto& file = *sets.add_output_files();
  file.set_path("observation-sets");
  SetWire(Digest::Of(list.bytes()), file.mutable_digest());
  file.set_contents(list.bytes());
  EXPECT_TRUE(update(PutBytes(store_, mine.bytes()), sets).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(update(PutBytes(store_, others.bytes()), sets)));
}

}  // namespace
}  // namespace galley::store
