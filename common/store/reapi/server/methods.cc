#include "common/store/reapi/server/methods.h"

#include <utility>

#include "common/store/reapi/server/blob_reads.h"
#include "common/store/reapi/server/health_reflection.h"
#include "common/store/reapi/server/reapi_results.h"
#include "common/store/reapi/server/tree_pages.h"

namespace galley::store {
namespace {

const std::string kReapi = "/build.bazel.remote.execution.v2.";
const std::string kByteStream = "/google.bytestream.ByteStream/";

}  // namespace

std::map<std::string, Method, std::less<>> ReapiMethods(Store& store, const ReapiOptions& options,
                                                        Uploads& uploads) {
  using Reply = ReapiCore::Reply;
  std::map<std::string, Method, std::less<>> methods;
  const auto unary = [&](std::string name, Right right,
                         std::function<Reply(const Caller&, std::string_view)> answer) {
    methods[std::move(name)] =
        Method{.right = right, .make = [answer = std::move(answer)](const Caller& caller) {
                 return std::make_unique<UnaryHandler>([answer, caller](std::string_view request) {
                   return answer(caller, request);
                 });
               }};
  };
  const auto core = [&](std::string name, Right right,
                        Reply (ReapiCore::*answer)(std::string_view)) {
    unary(kReapi + name, right, [&store, options, answer](const Caller& caller, auto request) {
      return (ReapiCore(store, options, caller).*answer)(request);
    });
  };
  const auto results = [&](std::string name, Right right,
                           Reply (ReapiResults::*answer)(std::string_view)) {
    unary(kReapi + name, right, [&store, options, answer](const Caller& caller, auto request) {
      return (ReapiResults(store, options, caller).*answer)(request);
    });
  };
  core("Capabilities/GetCapabilities", Right::kRead, &ReapiCore::GetCapabilities);
  core("ContentAddressableStorage/FindMissingBlobs", Right::kRead, &ReapiCore::FindMissingBlobs);
  core("ContentAddressableStorage/BatchUpdateBlobs", Right::kWrite, &ReapiCore::BatchUpdateBlobs);
  core("ContentAddressableStorage/BatchReadBlobs", Right::kRead, &ReapiCore::BatchReadBlobs);
  results("ActionCache/GetActionResult", Right::kRead, &ReapiResults::GetActionResult);
  results("ActionCache/UpdateActionResult", Right::kWriteResults,
          &ReapiResults::UpdateActionResult);
  unary(kByteStream + "QueryWriteStatus", Right::kWrite,
        [&uploads](const Caller& caller, std::string_view request) {
          return uploads.QueryWriteStatus(request, caller);
        });
  methods[kByteStream + "Write"] =
      Method{.right = Right::kWrite, .limits = kStreamLimits, .make = [&uploads](const Caller& c) {
               return uploads.NewWrite(c);
             }};
  methods[kByteStream + "Read"] =
      Method{.limits = kStreamLimits, .make = [&store, options](const Caller& caller) {
               return std::make_unique<ByteStreamRead>(store, options, caller);
             }};
  methods[kReapi + "ContentAddressableStorage/GetTree"] =
      Method{.limits = kStreamLimits, .make = [&store, options](const Caller& caller) {
               return std::make_unique<TreePages>(store, options, caller);
             }};
  methods["/grpc.health.v1.Health/Check"] =
      Method{.right = Right::kNone, .make = [](const Caller&) { return NewHealthCheck(); }};
  methods["/grpc.health.v1.Health/Watch"] =
      Method{.limits = kWatchLimits, .make = [](const Caller&) { return NewHealthWatch(); }};
  methods["/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"] =
      Method{.limits = kStreamLimits, .make = [](const Caller&) { return NewReflection(); }};
  return methods;
}

}  // namespace galley::store
