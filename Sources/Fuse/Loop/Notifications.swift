import FileSystemCore

/// The kernel notifications that a request has queued, to be sent before or after its reply.
struct Notifications: Sendable {
    let before: [FileSystemCore.Notification]
    let after: [FileSystemCore.Notification]

    init(_ request: borrowing Request) {
        before = request.notificationsBeforeReply
        after = request.notificationsAfterReply
    }

    /// Takes the notifications from a request that continues after its reply.
    init(taking request: inout Request) {
        self.init(request)
        request.notificationsBeforeReply = []
        request.notificationsAfterReply = []
    }

    var isEmpty: Bool { before.isEmpty && after.isEmpty }
}
