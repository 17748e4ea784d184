#include "common/wire/channel.h"

#include "grpc/grpc.h"
#include "grpcpp/create_channel.h"
#include "gtest/gtest.h"

namespace galley::wire {
namespace {

// Otherwise the last user of gRPC would wait for gRPC's own threads.
TEST(ChannelTest, GrpcRunsOnWhenItsLastUserIsGone) {
  grpc::CreateChannel("unix:/nowhere", grpc::InsecureChannelCredentials()).reset();
  ASSERT_EQ(grpc_is_initialized(), 0);
  OpenChannel("unix:/nowhere").reset();
  EXPECT_NE(grpc_is_initialized(), 0);
}

}  // namespace
}  // namespace galley::wire
