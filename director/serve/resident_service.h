// ResidentService: the gRPC side of ClientCalls. HostedService: the gRPC side of StatusCalls, in a
// director that a command hosts for one cook.
//
// Threads: any.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>

#include "director/serve/client_calls.h"
#include "galley/v1/director.grpc.pb.h"

namespace galley::director {

class ResidentService final : public v1::Resident::Service {
 public:
  // From: the machine of the callers. A caller on another machine may not choose the folder that is
  // written, and which files there are removed.
  enum class From { kThisMachine, kAnotherMachine };
  // `calls` outlives ResidentService.
  explicit ResidentService(ClientCalls& calls, From from = From::kThisMachine)
      : calls_(calls), from_(from) {}
  // Ends the streams of all readers soon.
  void Close() { is_closed_ = true; }

  grpc::Status Hello(grpc::ServerContext*, const v1::HelloAsk* ask,
                     v1::HelloAnswer* answer) override;
  grpc::Status Cook(grpc::ServerContext* context, const v1::CookAsk* ask,
                    grpc::ServerWriter<v1::CookEvent>* writer) override;
  grpc::Status Follow(grpc::ServerContext* context, const v1::FollowAsk* ask,
                      grpc::ServerWriter<v1::CookEvent>* writer) override;
  grpc::Status Cancel(grpc::ServerContext* context, const v1::CancelAsk* ask,
                      v1::CancelAnswer*) override;
  grpc::Status Status(grpc::ServerContext*, const v1::StatusAsk* ask,
                      v1::StatusAnswer* answer) override;
  grpc::Status Drain(grpc::ServerContext* context, const v1::DrainAsk* ask,
                     v1::DrainAnswer* answer) override;
  grpc::Status Clean(grpc::ServerContext* context, const v1::CleanAsk* ask,
                     v1::CleanAnswer* answer) override;
  grpc::Status Stop(grpc::ServerContext* context, const v1::StopAsk*,
                    v1::StopAnswer* answer) override;
  grpc::Status Show(grpc::ServerContext* context, const v1::ShowAsk* ask,
                    grpc::ServerWriter<v1::Shown>* writer) override;

 private:
  // False: the reader went away first.
  bool Tell(grpc::ServerContext& context, CookReader& reader,
            grpc::ServerWriter<v1::CookEvent>& writer);

  ClientCalls& calls_;
  const From from_;
  std::atomic<bool> is_closed_ = false;
};

class HostedService final : public v1::Hosted::Service {
 public:
  // `calls` outlives HostedService.
  explicit HostedService(StatusCalls& calls) : calls_(calls) {}
  grpc::Status Status(grpc::ServerContext*, const v1::StatusAsk* ask,
                      v1::StatusAnswer* answer) override;

 private:
  StatusCalls& calls_;
};

}  // namespace galley::director
