#include "director/resident/asked_environment.h"

#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

const std::map<std::string, std::string>& Ours() {
  static const auto& ours =
      *new std::map<std::string, std::string>{{"SAME", "1"}, {"OTHER", "1"}, {"ONLY_OURS", ""}};
  return ours;
}

v1::CookAsk Ask() {
  v1::CookAsk ask;
  (*ask.mutable_environment())["SAME"] = "1";
  (*ask.mutable_environment())["OTHER"] = "secret";
  (*ask.mutable_environment())["ONLY_THEIRS"] = "";
  return ask;
}

TEST(AskedEnvironmentTest, WhatDiffersHasTheClientsValue) {
  EXPECT_THAT(DifferingOf(Ours(), Ask()),
              ElementsAre(Pair("ONLY_OURS", "unset"), Pair("ONLY_THEIRS", "\"\""),
                          Pair("OTHER", "\"secret\"")));
}

TEST(AskedEnvironmentTest, ASealedOneHasNoValuesAndStillTellsWhatDiffers) {
  v1::CookAsk ask = Ask();
  SealEnvironment(ask);
  EXPECT_THAT(ask.environment(), IsEmpty());
  EXPECT_THAT(ask.SerializeAsString(), Not(HasSubstr("secret")));
  EXPECT_THAT(DifferingOf(Ours(), ask),
              ElementsAre(Pair("ONLY_OURS", "unset"), Pair("ONLY_THEIRS", "another value"),
                          Pair("OTHER", "another value")));
  v1::CookAsk again = Ask();
  SealEnvironment(again);
  EXPECT_NE(ask.environment_digests().at("SAME"), again.environment_digests().at("SAME"));
}

}  // namespace
}  // namespace galley::director
