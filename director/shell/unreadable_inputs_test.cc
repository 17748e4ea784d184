#include "director/shell/unreadable_inputs.h"

#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class UnreadableInputsTest : public ShellJournalTest {
 protected:
  // Puts a blob that `package` made into the store, as the journal knows it.
  Digest Make(const std::string& package, const std::string& bytes) {
    const Digest digest = Digest::Of(bytes);
    EXPECT_TRUE(store_.Put(digest, bytes).ok());
    EXPECT_TRUE(store_.Commit({}).ok());
    record::Result result;
    result.outputs = {{"", digest}};
    JournalUpdate update{.package = package, .platform = "windows"};
    update.record.result = record::EncodeResult(result);
    EXPECT_TRUE(journal_->Record(std::span(&update, 1), true).ok());
    return digest;
  }
  bool IsTrusted(const std::string& package) {
    return journal_->Find(package).value()->platforms.at("windows").is_trusted;
  }
  const uint64_t lying_in_ = 7;  // the segment that exists
  std::vector<std::string> Distrust(const std::vector<GivenBlob>& blobs) {
    const auto lies_at = [this](const Digest&, const store::BlobLocation& location) {
      return location.segment == lying_in_;
    };
    return DistrustUnreadable(store_, *journal_, blobs, lies_at).value().packages;
  }
};

TEST_F(UnreadableInputsTest, WhatIsRightStays) {
  const Digest a = Make("/Game/a.txt", "a");
  EXPECT_THAT(Distrust({{a, "/Game/a.txt"}}), IsEmpty());
  EXPECT_TRUE(IsTrusted("/Game/a.txt"));
}

TEST_F(UnreadableInputsTest, WhoMadeWrongBytesIsNotTrustedAndOthersAre) {
  const Digest a = Make("/Game/a.txt", "a");
  const Digest b = Make("/Game/b.txt", "b");
  ASSERT_TRUE(store_.inner.Corrupt(b));
  EXPECT_THAT(Distrust({{a, "/Game/a.txt"}, {b, "/Game/b.txt"}, {b, "/Game/b.txt"}}),
              ElementsAre("/Game/b.txt"));
  EXPECT_TRUE(IsTrusted("/Game/a.txt"));
  EXPECT_FALSE(IsTrusted("/Game/b.txt"));
  // Nobody else gets the wrong bytes.
  EXPECT_THAT(store_.FindMissing(std::span(&b, 1)).value(), ElementsAre(b));
}

TEST_F(UnreadableInputsTest, WhatIsGoneIsMadeAgainUnlessItsCommitIsStillToCome) {
  const Digest gone = Digest::Of("gone");
  const store::BlobLocation there{.segment = lying_in_}, deleted{.segment = lying_in_ + 1};
  EXPECT_THAT(Distrust({{.digest = gone, .package = "/Game/a.txt", .reported_at = there}}),
              IsEmpty());
  EXPECT_THAT(Distrust({{.digest = gone, .package = "/Game/a.txt", .reported_at = deleted}}),
              ElementsAre("/Game/a.txt"));
  EXPECT_THAT(Distrust({{gone, "/Game/a.txt"}}), ElementsAre("/Game/a.txt"));
}

}  // namespace
}  // namespace galley::director
