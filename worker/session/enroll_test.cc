#include "worker/session/enroll.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "galley/v1/worker.grpc.pb.h"
#include "gtest/gtest.h"

namespace galley::worker {
namespace {

using grpc::StatusCode;

// A director without TLS that answers as it is told, and in the end gives a certificate.
class EnrollTest : public testing::Test, public v1::Director::Service {
 protected:
  using Answer = std::function<grpc::Status(grpc::ServerContext&)>;

  void SetUp() override {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  void TearDown() override { server_->Shutdown(); }

  grpc::Status Enroll(grpc::ServerContext* context, const v1::EnrollRequest* request,
                      v1::EnrollAnswer* answer) override {
    Answer present;
    {
      const base::MutexLock lock(mutex_);
      if (requests_.size() < answers_.size()) present = answers_[requests_.size()];
      requests_.push_back(request->certificate_request());
    }
    answer->set_certificate("certificate");
    return present == nullptr ? grpc::Status::OK : present(*context);
  }
  absl::StatusOr<wire::ClientTls> Ask(std::vector<Answer> answers, absl::Duration wait_max) {
    {
      const base::MutexLock lock(mutex_);
      answers_ = std::move(answers);
      requests_.clear();
    }
    return worker::Enroll({.director = address_,
                           .worker_id = "slurm-1",
                           .token = "token",
                           .authority = "",
                           .wait_max = wait_max});
  }
  std::vector<std::string> requests() {
    const base::MutexLock lock(mutex_);
    return requests_;
  }

  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  base::Mutex mutex_;
  std::vector<Answer> answers_ GALLEY_GUARDED_BY(mutex_);
  std::vector<std::string> requests_ GALLEY_GUARDED_BY(mutex_);
};

TEST_F(EnrollTest, AnAnswerThatIsLostOrLateIsAskedForAgainWithTheSameRequest) {
  const Answer breaks = [](grpc::ServerContext&) {
    return grpc::Status(StatusCode::UNAVAILABLE, "the connection broke");
  };
  std::promise<void> is_over;
  const Answer comes_too_late = [&](grpc::ServerContext&) {
    is_over.get_future().wait();
    return grpc::Status::CANCELLED;
  };
  const auto given = Ask({breaks, breaks, comes_too_late}, absl::Seconds(10));
  is_over.set_value();
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ(given->certificate, "certificate");
  const std::vector<std::string> asked = requests();
  ASSERT_EQ(asked.size(), 4u);
  EXPECT_EQ(std::count(asked.begin(), asked.end(), asked[0]), 4) << "so that it is known again";
}

TEST_F(EnrollTest, WhatTheDirectorRefusesIsNotAskedForAgain) {
  const auto given = Ask({[](grpc::ServerContext&) {
                           return grpc::Status(StatusCode::UNAUTHENTICATED, "another token");
                         }},
                         absl::Seconds(60));
  EXPECT_TRUE(absl::IsUnauthenticated(given.status())) << given.status();
  EXPECT_EQ(requests().size(), 1u);
}

TEST_F(EnrollTest, ItGivesUpAtItsLimit) {
  const Answer away = [](grpc::ServerContext&) {
    return grpc::Status(StatusCode::UNAVAILABLE, "the director ends");
  };
  const auto given = Ask(std::vector<Answer>(10'000, away), absl::Milliseconds(300));
  EXPECT_TRUE(absl::IsUnavailable(given.status())) << given.status();
  EXPECT_GT(requests().size(), 1u);
}

}  // namespace
}  // namespace galley::worker
