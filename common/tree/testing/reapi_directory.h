// For tests: Directories as protobuf reads and writes them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"

namespace galley::tree {

inline std::string Serialised(const google::protobuf::MessageLite& message) {
  return message.SerializeAsString();
}

inline build::bazel::remote::execution::v2::Directory Parsed(const std::string& bytes) {
  build::bazel::remote::execution::v2::Directory message;
  EXPECT_TRUE(message.ParseFromString(bytes));
  return message;
}

}  // namespace galley::tree
