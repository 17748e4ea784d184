#include "director/serve/http/http_responder.h"

#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class HttpResponderTest : public testing::Test {
 protected:
  HttpResponder Responder() { return HttpResponder(exchange_); }

  std::vector<int> statuses_;
  int left_ = 0;
  std::shared_ptr<HttpExchange> exchange_ = std::make_shared<HttpExchange>(
      [this](const HttpAnswer& answer) { statuses_.push_back(answer.status); });
};

TEST_F(HttpResponderTest, TheFirstAnswerCounts) {
  const HttpResponder responder = Responder();
  const HttpResponder copy = responder;
  copy.Answer({.status = 404});
  responder.Answer({.status = 200});
  EXPECT_THAT(statuses_, ElementsAre(404));
}

TEST_F(HttpResponderTest, TheLastCopyThatGoesWithoutAnAnswerSays500) {
  std::optional<HttpResponder> responder = Responder();
  std::optional<HttpResponder> copy = responder;
  responder.reset();
  EXPECT_THAT(statuses_, IsEmpty());
  copy.reset();
  EXPECT_THAT(statuses_, ElementsAre(500));
}

TEST_F(HttpResponderTest, AClientThatLeavesIsToldOnce) {
  const HttpResponder responder = Responder();
  responder.OnLeave([this] { ++left_; });
  exchange_->Leave();
  exchange_->Leave();
  EXPECT_EQ(left_, 1);
  responder.Answer({.status = 200});
  EXPECT_THAT(statuses_, IsEmpty());
}

TEST_F(HttpResponderTest, AHookThatComesAfterTheClientLeftRunsAtOnce) {
  const HttpResponder responder = Responder();
  exchange_->Leave();
  responder.OnLeave([this] { ++left_; });
  EXPECT_EQ(left_, 1);
}

TEST_F(HttpResponderTest, OnlyTheLastHookRuns) {
  const HttpResponder responder = Responder();
  responder.OnLeave([this] { left_ += 10; });
  responder.OnLeave([this] { ++left_; });
  exchange_->Leave();
  EXPECT_EQ(left_, 1);
}

TEST_F(HttpResponderTest, NobodyLeavesAfterTheAnswer) {
  const HttpResponder responder = Responder();
  responder.OnLeave([this] { ++left_; });
  responder.Answer({.status = 200});
  responder.OnLeave([this] { ++left_; });
  exchange_->Leave();
  EXPECT_EQ(left_, 0);
}

}  // namespace
}  // namespace galley::director
