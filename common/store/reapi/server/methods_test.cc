// The calls that each identity may make to a store: every identity at every call in the protocol
// files.
#include "common/store/reapi/server/methods.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <set>
#include <vector>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/base/testing/manual_clock.h"
#include "common/store/testing/memory_store.h"
#include "gmock/gmock.h"
#include "google/bytestream/bytestream.pb.h"
#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"
#include "gtest/gtest.h"

namespace galley::store {
namespace {

namespace reapi = build::bazel::remote::execution::v2;

// The table of docs/shared-store.md. No role: the call is not served.
const std::map<std::string, std::vector<std::string>>& WhoMayOfStore() {
  const std::string v2 = "/build.bazel.remote.execution.v2.";
  static const std::vector<std::string> all = {"nobody", "reader", "writer", "ci", "admin"};
  static const std::vector<std::string> reader = {"reader", "writer", "ci", "admin"};
  static const std::vector<std::string> writer = {"writer", "ci", "admin"};
  static const std::vector<std::string> results = {"ci", "admin"};
  static const std::vector<std::string> none;
  static const std::map<std::string, std::vector<std::string>> table = {
      {v2 + "ActionCache/GetActionResult", reader},
      {v2 + "ActionCache/UpdateActionResult", results},
      {v2 + "Capabilities/GetCapabilities", reader},
      {v2 + "ContentAddressableStorage/BatchReadBlobs", reader},
      {v2 + "ContentAddressableStorage/BatchUpdateBlobs", writer},
      {v2 + "ContentAddressableStorage/FindMissingBlobs", reader},
      {v2 + "ContentAddressableStorage/GetTree", reader},
      {v2 + "ContentAddressableStorage/SpliceBlob", none},
      {v2 + "ContentAddressableStorage/SplitBlob", none},
      {v2 + "Execution/Execute", none},
      {v2 + "Execution/WaitExecution", none},
      {"/google.bytestream.ByteStream/QueryWriteStatus", writer},
      {"/google.bytestream.ByteStream/Read", reader},
      {"/google.bytestream.ByteStream/Write", writer},
      {"/grpc.health.v1.Health/Check", all},
      {"/grpc.health.v1.Health/Watch", reader},
      {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", reader},
  };
  return table;
}

std::set<std::string> CallsOfTheProtocol() {
  std::set<std::string> calls;
  for (const google::protobuf::FileDescriptor* file :
       {reapi::Action::descriptor()->file(), google::bytestream::ReadRequest::descriptor()->file(),
        grpc::health::v1::HealthCheckRequest::descriptor()->file(),
        grpc::reflection::v1alpha::ServerReflectionRequest::descriptor()->file()}) {
    for (int i = 0; i < file->service_count(); ++i) {
      for (int j = 0; j < file->service(i)->method_count(); ++j)
        calls.insert("/" + file->service(i)->full_name() + "/" +
                     file->service(i)->method(j)->name());
    }
  }
  return calls;
}

class MethodsTest : public testing::Test {
 protected:
  MemoryStore store_;
  ManualClock clock_;
  Uploads uploads_{store_, {}, clock_, {}};
  std::map<std::string, Method, std::less<>> methods_ = ReapiMethods(store_, {}, uploads_);
};

TEST_F(MethodsTest, EveryCallOfTheProtocolHasARow) {
  std::set<std::string> rows;
  for (const auto& [path, who] : WhoMayOfStore()) {
    rows.insert(path);
    EXPECT_EQ(methods_.contains(path), !who.empty()) << path;
  }
  for (const auto& [path, method] : methods_) EXPECT_TRUE(rows.contains(path)) << path;
  const std::set<std::string> calls = CallsOfTheProtocol();
  EXPECT_TRUE(std::includes(rows.begin(), rows.end(), calls.begin(), calls.end()))
      << "a call that is new in the protocol needs a row here and in docs/shared-store.md";
}

TEST_F(MethodsTest, EachIdentityMayWhatItsRoleSaysAndNoMore) {
  const Gate gate(
      {{.name = "reader", .certificate = "reader", .role = Role::kReader},
       {.name = "writer", .certificate = "writer", .role = Role::kWriter},
       {.name = "ci", .certificate = "ci", .role = Role::kWriter, .may_write_results = true},
       {.name = "admin", .certificate = "admin", .role = Role::kAdmin, .may_write_results = true}});
  for (const auto& [path, method] : methods_) {
    const std::vector<std::string>& who = WhoMayOfStore().at(path);
    for (const std::string caller : {"nobody", "reader", "writer", "ci", "admin"}) {
      SCOPED_TRACE(path + " " + caller);
      const auto admitted = gate.Admit({.certificate_names = {caller}}, method.right);
      const bool may = std::find(who.begin(), who.end(), caller) != who.end();
      EXPECT_EQ(admitted.ok(), may);
      if (may) continue;
      EXPECT_EQ(admitted.status().code(), caller == "nobody" ? absl::StatusCode::kUnauthenticated
                                                             : absl::StatusCode::kPermissionDenied);
      EXPECT_THAT(std::string(admitted.status().message()),
                  testing::AnyOf(testing::HasSubstr("has no right to write"),
                                 testing::HasSubstr("expected a bearer token")));
    }
  }
}

}  // namespace
}  // namespace galley::store
