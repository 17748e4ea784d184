#include "director/serve/http/http_problem.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string TextOf(const HttpAnswer& answer) { return *std::get<Blob>(answer.body); }

TEST(HttpProblemTest, SaysStatusTitleTextAndTheMembersOfTheFace) {
  const HttpAnswer answer = MakeProblem(
      {.status = 422, .text = "The PNG has no \"IDAT\".", .members = {{"package", "/Game/a.png"}}});
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.content_type, "application/problem+json");
  EXPECT_EQ(answer.caching, HttpCaching::kNoStore);
  EXPECT_THAT(answer.fields, IsEmpty());
  EXPECT_EQ(TextOf(answer),
            "{\"package\":\"/Game/a.png\",\"status\":422,\"text\":\"The PNG has no "
            "\\\"IDAT\\\".\",\"title\":\"Unprocessable Content\"}\n");
}

TEST(HttpProblemTest, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_THAT(TextOf(MakeProblem({.status = 500, .text = "a\xff"})),
              testing::HasSubstr("a\xef\xbf\xbd"));
}

TEST(HttpProblemTest, RetryAfterIsInWholeSecondsAndNeverZero) {
  const auto fields = [](absl::Duration time) {
    return MakeProblem({.status = 503, .text = "Not yet.", .retry_after = time}).fields;
  };
  EXPECT_THAT(fields(absl::Milliseconds(1'200)), ElementsAre(HttpField{"Retry-After", "2"}));
  EXPECT_THAT(fields(absl::ZeroDuration()), ElementsAre(HttpField{"Retry-After", "1"}));
}

TEST(HttpProblemTest, ReasonsAreThoseOfTheStandard) {
  EXPECT_EQ(ReasonOf(200), "OK");
  EXPECT_EQ(ReasonOf(431), "Request Header Fields Too Large");
  EXPECT_EQ(ReasonOf(505), "HTTP Version Not Supported");
  EXPECT_EQ(ReasonOf(299), "Unknown");
  EXPECT_EQ(ReasonOf(599), "Unknown");
}

}  // namespace
}  // namespace galley::director
