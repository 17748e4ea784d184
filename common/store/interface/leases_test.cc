#include "common/store/interface/leases.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/base/sealed_text.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;

RootLease LeaseOf(std::string name, std::string_view root, int64_t until_s) {
  return {
      .name = std::move(name), .root = Digest::Of(root), .until = absl::FromUnixSeconds(until_s)};
}

TEST(LeasesTest, DecodingGivesBackWhatWasEncoded) {
  const std::vector<RootLease> leases = {LeaseOf("0123/newest", "root", 1'800'000'000),
                                         LeaseOf("a", "", 0), LeaseOf("z_+-.Z9", "other", -5)};
  const auto decoded = DecodeLeases(EncodeLeases(leases));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_THAT(*decoded, ElementsAreArray(leases));
  EXPECT_THAT(*DecodeLeases(EncodeLeases({})), IsEmpty());
}

TEST(LeasesTest, TheFileIsTextWithALineForEachLease) {
  const std::string text = EncodeLeases(std::vector{LeaseOf("0123/newest", "root", 5)});
  const std::string lines =
      "galley-leases 1\nlease 5000000 " + Digest::Of("root").ToString() + " 0123/newest\n";
  EXPECT_EQ(text, lines + "sum " + Digest::Of(lines).hex() + "\n");
}

TEST(LeasesTest, ALeaseForGoodStaysOne) {
  const RootLease lease{.name = "a", .root = Digest::Of("root"), .until = absl::InfiniteFuture()};
  const auto decoded = DecodeLeases(EncodeLeases(std::vector{lease}));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_GT(decoded->front().until, absl::FromUnixSeconds(100'000'000'000));
}

TEST(LeasesTest, NamesAreBoundedAndPlain) {
  for (const char* name : {"a", "0123/session-7", "A.b_c+d"}) {
    EXPECT_TRUE(ValidateLeaseName(name).ok()) << name;
  }
  EXPECT_TRUE(ValidateLeaseName(std::string(200, 'a')).ok());
  for (const std::string& name : {std::string(), std::string("a b"), std::string("a\nb"),
                                  std::string("\xc3\xa9"), std::string(201, 'a')}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ValidateLeaseName(name))) << name;
    EXPECT_TRUE(absl::IsInvalidArgument(ValidateLeaseNames(std::vector{LeaseOf(name, "", 1)})));
  }
}

TEST(LeasesTest, RootsThatAreLeasedAreNotNew) {
  const std::vector<RootLease> held = {LeaseOf("a", "root", 1)};
  const RootLease renewed = LeaseOf("a", "root", 2), same = LeaseOf("b", "root", 2);
  const RootLease moved = LeaseOf("a", "other", 2);
  EXPECT_THAT(LeasesOfNewRoots(std::vector{renewed, moved, same}, held), ElementsAreArray({moved}));
  EXPECT_THAT(LeasesOfNewRoots(std::vector{renewed}, {}), ElementsAreArray({renewed}));
}

TEST(LeasesTest, DamageIsFound) {
  const std::string text = EncodeLeases(std::vector{LeaseOf("a", "root", 1)});
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_TRUE(absl::IsDataLoss(DecodeLeases(text.substr(0, size)).status())) << size;
  }
  const std::string root = Digest::Of("root").ToString();
  for (const std::string& line : {"x " + root + " a", "1 " + root, "1 " + root + " a b",
                                  root + " a", std::string("1 no/digest a"), std::string("1")}) {
    EXPECT_TRUE(
        absl::IsDataLoss(DecodeLeases(Seal("galley-leases", 1, {{"lease", line}})).status()))
        << line;
  }
}

TEST(LeasesTest, OtherKeysAreSkippedAndOtherVersionsRefused) {
  EXPECT_THAT(*DecodeLeases(Seal("galley-leases", 1, {{"later", "x"}})), IsEmpty());
  EXPECT_TRUE(absl::IsFailedPrecondition(DecodeLeases(Seal("galley-leases", 2, {})).status()));
}

}  // namespace
}  // namespace galley::store
