#include "worker/session/certificate_keeper.h"

#include <vector>

#include "common/base/testing/manual_clock.h"
#include "common/wire/certificate_authority.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::worker {
namespace {

constexpr absl::Duration kLife = absl::Hours(7 * 24);

// A director that gives certificates, or an error.
class CertificateKeeperTest : public testing::Test {
 protected:
  wire::ClientTls NewCertificate() {
    const wire::KeyAndRequest made = wire::NewKeyAndRequest().value();
    return {.ca = "ca",
            .certificate = authority_->Issue(made.request, "slurm-1", clock_.Now(), kLife).value(),
            .key = made.key};
  }
  std::unique_ptr<CertificateKeeper> Keep() {
    first_ = NewCertificate();
    return std::make_unique<CertificateKeeper>(
        first_,
        CertificateKeeper::Deps{
            .clock = &clock_,
            .renew = [this](const wire::ClientTls& present) -> absl::StatusOr<wire::ClientTls> {
              asked_with_.push_back(present.certificate);
              if (!error_.ok()) return error_;
              return NewCertificate();
            },
            .take = [this](const wire::ClientTls& next) { taken_.push_back(next); }});
  }

  ManualClock clock_;
  std::unique_ptr<wire::CertificateAuthority> authority_ =
      wire::NewCertificateAuthority(clock_.Now()).value();
  wire::ClientTls first_;
  absl::Status error_;
  std::vector<std::string> asked_with_;
  std::vector<wire::ClientTls> taken_;
};

TEST_F(CertificateKeeperTest, EachIsRenewedAtTwoThirdsOfItsTimeWithTheOneBefore) {
  const auto keeper = Keep();
  clock_.Advance(kLife * 0.66);
  keeper->Look();
  EXPECT_TRUE(asked_with_.empty());
  clock_.Advance(kLife * 0.01);
  keeper->Look();
  keeper->Look();
  ASSERT_EQ(taken_.size(), 1u);
  EXPECT_EQ(asked_with_.back(), first_.certificate);
  EXPECT_NE(taken_[0].key, first_.key) << "with a key of its own";
  clock_.Advance(kLife * 0.67);
  keeper->Look();
  ASSERT_EQ(taken_.size(), 2u);
  EXPECT_EQ(asked_with_.back(), taken_[0].certificate);
}

TEST_F(CertificateKeeperTest, ADirectorThatIsAwayIsAskedAgainUntilItAnswers) {
  const auto keeper = Keep();
  error_ = absl::UnavailableError("away");
  clock_.Advance(kLife * 0.7);
  keeper->Look();
  keeper->Look();
  EXPECT_EQ(asked_with_.size(), 1u) << "not at each look";
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(absl::Minutes(10));
    keeper->Look();
  }
  EXPECT_EQ(asked_with_.size(), 6u);
  EXPECT_TRUE(taken_.empty());
  error_ = absl::OkStatus();
  clock_.Advance(absl::Minutes(10));
  keeper->Look();
  EXPECT_EQ(taken_.size(), 1u);
}

TEST_F(CertificateKeeperTest, OneThatGetsNoOtherDoesNotAskAgain) {
  for (const absl::Status& error :
       {absl::FailedPreconditionError("drained"), absl::PermissionDeniedError("a client"),
        absl::UnimplementedError("an older director")}) {
    asked_with_.clear();
    const auto keeper = Keep();
    error_ = error;
    clock_.Advance(kLife * 0.7);
    keeper->Look();
    EXPECT_EQ(keeper->next(), absl::InfiniteFuture());
    clock_.Advance(kLife);
    keeper->Look();
    EXPECT_EQ(asked_with_.size(), 1u) << error;
  }
}

}  // namespace
}  // namespace galley::worker
